"""Ray clusters for tests: one started by this process, and others with a separate port, token and environment."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

TOKEN = "0" * 64


def clean_environment(**more: str) -> dict[str, str]:
    """Return this process's environment without variables that Ray or an executor has set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | more


@contextmanager
def ray_head(environment: Mapping[str, str]) -> Iterator[str]:
    """Start a head node with two processors, yield its address, and stop it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray-head-", dir="/tmp")
    command = [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={port}", "--num-cpus=2"),
        *("--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats"),
        *("--object-store-memory=200000000", f"--temp-dir={folder}"),
    ]
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        address = f"127.0.0.1:{port}"
        _await(process, port)
        yield address
    finally:
        with_group = os.getpgid(process.pid)
        os.killpg(with_group, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(with_group, signal.SIGKILL)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
        subprocess.run(["rm", "-rf", folder], check=True)


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until ``ray start`` prints that the node runs."""
    assert process.stdout is not None
    until = time.monotonic() + 120
    said = b""
    while time.monotonic() < until:
        line = process.stdout.readline()
        said += line
        if b"Ray runtime started" in line:
            return
        if not line:
            break
    raise RuntimeError(f"ray start did not come up on port {port}: {said.decode(errors='replace')}")
