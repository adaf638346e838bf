"""Run `plumbline serve` for drills, on a free port, with requests by curl. The server is always stopped."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any

WAIT_S = 240


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that curl received."""

    status: int
    headers: dict[str, str]
    body: str

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Running:
    """A running server. environment: its environment. lines: lines of its stderr so far; complete after ``stopped``."""

    process: subprocess.Popen[str]
    environment: dict[str, str]
    url: str
    lines: list[str]
    reader: Thread

    def curl(self, path: str, *arguments: str) -> Reply:
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--include", "--max-time", str(WAIT_S), *arguments, self.url + path],
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.decode().partition("\r\n\r\n")
        while head.startswith("HTTP/1.1 100"):
            head, _, body = body.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines)}
        return Reply(int(first.split()[1]), headers, body)

    def stopped(self, by: signal.Signals) -> int:
        """Send the signal and return the exit code."""
        self.process.send_signal(by)
        code = self.process.wait(timeout=WAIT_S)
        self.reader.join(timeout=WAIT_S)
        return code

    def query(self, body: object) -> Reply:
        text = body if isinstance(body, str) else json.dumps(body)
        return self.curl("/v1/query", "--header", "Content-Type: application/json", "--data-binary", text)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "app.cli", "serve", *arguments]


@contextmanager
def serving(environment: dict[str, str], *arguments: str) -> Iterator[Running]:
    process = subprocess.Popen(
        command("--port", "0", *arguments), env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stderr is not None
    lines: list[str] = []
    reader = Thread(target=lambda stream: lines.extend(stream), args=(process.stderr,), daemon=True)
    try:
        found = None
        while found is None:  # the server prints a line when it accepts requests
            lines.append(process.stderr.readline())
            found = re.search(r"serving (http://\S+)", lines[-1])
            assert lines[-1], f"it ended before it accepted: {''.join(lines)}"
        reader.start()
        yield Running(process, environment, found[1], lines, reader)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=WAIT_S)
        if reader.ident is not None:
            reader.join(timeout=WAIT_S)
        process.stderr.close()
