"""A PostgreSQL server for the tests marked ``scale``: the binaries of the ``pgserver`` wheel, with pgvector."""

from __future__ import annotations

import importlib.util
import os
import pwd
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import make_url

SYSTEM_USER = "nobody"
"""User that runs PostgreSQL under root, because it refuses to run as root."""


@dataclass(frozen=True)
class Server:
    """A running server. url: of its database ``postgres``, over a Unix socket. port: on 127.0.0.1. folder: its files.

    Local connections need no password; connections by TCP need ``password``.
    """

    url: str
    port: int
    password: str
    folder: Path
    programs: Path
    options: str

    def tcp_url(self, url: str) -> str:
        """Return the URL of the same database over TCP, with the password."""
        parsed = make_url(url)
        tcp = parsed.set(host="127.0.0.1", port=self.port, password=self.password, query={})
        return tcp.render_as_string(hide_password=False)

    def control(self, *arguments: str) -> None:
        """Run ``pg_ctl`` on this server, such as ``control("--mode", "immediate", "stop")``."""
        log = self.folder / "log"
        run(self.programs / "pg_ctl", "--pgdata", self.folder / "cluster", "--wait", "--log", log, *arguments)

    def running(self) -> bool:
        """Whether the server runs."""
        return (self.folder / "cluster" / "postmaster.pid").exists()

    def restart(self) -> None:
        """Start the stopped server again, with the same settings."""
        self.control("--options", self.options, "start")


@contextmanager
def server(*settings: str) -> Iterator[Server]:
    """Start a server in a temporary folder; stop it and remove the folder at the end.

    settings: further ones, such as ``"max_connections=200"``. Skips the test where ``pgserver`` is not installed.
    """
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="plumbline-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            owner = pwd.getpwnam(SYSTEM_USER)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        password = uuid.uuid4().hex
        secret = folder / "password"
        secret.write_text(password)
        if os.geteuid() == 0:
            os.chown(secret, owner.pw_uid, owner.pw_gid)
        trust = ("--auth-local", "trust", "--auth-host", "scram-sha-256", "--pwfile", secret)
        utf8 = ("--encoding", "UTF8", "--locale", "C", "--no-sync")
        run(programs / "initdb", "--pgdata", folder / "cluster", "--username", "postgres", *trust, *utf8)
        port = free_port()
        wanted = (
            "listen_addresses=127.0.0.1",
            f"port={port}",
            f"unix_socket_directories={folder}",
            "fsync=off",
            *settings,
        )
        options = " ".join(f"-c {setting}" for setting in wanted)
        url = f"postgresql+psycopg://postgres@/postgres?host={folder}&port={port}"
        started = Server(url, port, password, folder, programs, options)
        started.restart()
        try:
            yield started
        finally:
            if started.running():
                started.control("--mode", "immediate", "stop")


def find_programs() -> Path:
    """Return the folder with initdb and pg_ctl. Skips the test if there is none."""
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        pytest.skip("pgserver is not installed: run make test-scale, or pip install 'plumbline-rag[scale]'")
    return Path(found.origin).parent / "pginstall" / "bin"


def free_port() -> int:
    """Return a free TCP port on 127.0.0.1."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def run(*command: str | Path) -> None:
    """Run a program of PostgreSQL, as SYSTEM_USER under root. Raises AssertionError with its output on failure."""
    user = SYSTEM_USER if os.geteuid() == 0 else None
    # Output goes to a file, because the server that pg_ctl starts would keep a pipe open.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run([str(part) for part in command], user=user, cwd="/", stdout=output, stderr=output)
        output.seek(0)
        assert done.returncode == 0, f"{command[0]} failed: {output.read()[-2000:]}"
