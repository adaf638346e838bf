"""The demo contacts nobody: run whole in a process whose every socket is watched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.drill

_WATCHED = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        address = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
        host = address[0] if isinstance(address, tuple) else address
        if host not in ("127.0.0.1", "::1", "localhost"):
            sys.stderr.write(f"NETWORK {event} {address!r}\\n")
            raise PermissionError("the demo must not use the network")

sys.addaudithook(watch)
if sys.argv[1] == "trip":
    import socket
    socket.create_connection(("192.0.2.1", 80), timeout=1)
from app.cli import main
sys.exit(main(sys.argv[1:]))
"""


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _WATCHED, *arguments], capture_output=True, text=True, timeout=400)


def test_the_watch_sees_a_connection() -> None:
    ran = _run("trip")
    assert ran.returncode != 0 and "NETWORK socket." in ran.stderr


def test_the_demo_opens_no_socket_beyond_loopback(tmp_path: Path) -> None:
    ran = _run("demo", "--home", str(tmp_path), "--limit", "4", "--n", "1")
    assert ran.returncode == 0, ran.stderr
    assert "NETWORK" not in ran.stderr
    assert "closed_book" in ran.stdout and ".html" in ran.stdout
