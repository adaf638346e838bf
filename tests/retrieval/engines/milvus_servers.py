"""A Milvus server on loopback: Milvus Lite in a separate process, which clients reach like a cluster."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.scale.postgresql import free_port

_START_S = 60.0


@dataclass
class MilvusServer:
    """A running server. url: its address. process: its process, which a test may kill."""

    url: str
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        self.process = _started(self.folder, self.port)


@contextmanager
def milvus(folder: Path) -> Iterator[MilvusServer]:
    """Start a server with the data of ``folder``. Skips the test if Milvus Lite is not installed."""
    pytest.importorskip("milvus_lite", reason="run make test-scale, or pip install 'plumbline-rag[milvus]'")
    port = free_port()
    server = MilvusServer(f"http://127.0.0.1:{port}", folder, port, _started(folder, port))
    try:
        yield server
    finally:
        server.kill()


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    program = f"from milvus_lite.adapter.grpc.server import run_server; run_server({str(folder)!r}, port={port})"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ends = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None and time.monotonic() < ends, "the server did not start"
            time.sleep(0.1)
        else:
            return process
