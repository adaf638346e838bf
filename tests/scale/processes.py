"""Processes of one installation on one database: ``plumbline serve`` and ``plumbline work``, and their calls."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx

WAIT_S = 600.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Process:
    """A running process. url: of a server, "" for a worker. log: file of its stderr."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True)
class Installation:
    """An installation that starts processes. environment: environment of all of them. folder: for logs."""

    environment: Mapping[str, str]
    folder: Path
    started: list[Process]

    def start(self, name: str, *arguments: str, **more: str) -> Process:
        """Start ``plumbline NAME``; ``listening`` waits for a server. more: additional environment variables."""
        log = self.folder / f"{len(self.started)}-{name}.log"
        command = [sys.executable, "-m", "app.cli", name, *arguments]
        with log.open("wb") as stderr:
            process = subprocess.Popen(command, env={**self.environment, **more}, cwd=ROOT, stderr=stderr)
        found = Process(process, log)
        self.started.append(found)
        return found

    def serve(self, *arguments: str, **more: str) -> Process:
        """Start a server without a worker."""
        return self.start("serve", "--no-worker", "--port", "0", *arguments, **more)


def listening(started: Process) -> Process:
    """Wait until a server accepts requests, and return it with its URL."""

    def url() -> re.Match[str] | None:
        assert started.process.poll() is None, started.log.read_text()
        return re.search(r"serving (http://\S+)", started.log.read_text())

    return Process(started.process, started.log, until(url)[1])


@contextmanager
def installation(folder: Path, **environment: str) -> Iterator[Installation]:
    """Yield an installation, and kill its processes at the end."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PLUMBLINE_", "PYTEST_"))}
    made = Installation({**ours, "OMP_NUM_THREADS": "1", **environment}, folder, [])
    try:
        yield made
    finally:
        for one in made.started:
            if one.process.poll() is None:
                one.process.kill()
            one.process.wait()


def until(found: Callable[[], Any], wait_s: float = WAIT_S) -> Any:
    """Call until the result is true, and return it."""
    deadline = time.monotonic() + wait_s
    while not (result := found()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)
    return result


class Balancer:
    """A load balancer that sends each request to the next server, and to another one if that does not answer.

    dead: number of requests that found no server or lost it.
    """

    def __init__(self, urls: list[str]) -> None:
        self.urls = urls
        self.dead = 0
        self._next = 0
        self._client = httpx.Client(timeout=120)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        for _ in range(2 * len(self.urls)):
            self._next += 1
            url = self.urls[self._next % len(self.urls)]
            try:
                return self._client.request(method, url + path, **more)
            except httpx.TransportError:
                self.dead += 1
        raise AssertionError("no server answers")

    def close(self) -> None:
        self._client.close()
