"""A PostgreSQL server for a drill: one that is named in the environment, else Debian's, started for the occasion."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

URL = "PLUMBLINE_TEST_POSTGRESQL"
_DEBIAN = Path("/usr/lib/postgresql")


@contextmanager
def server() -> Iterator[str]:
    """The URL of a database in which others may be made; skips the test, with the reason, where there is none."""
    given = os.environ.get(URL)
    if given:
        yield given
        return
    if os.geteuid() != 0:
        pytest.skip(f"not root, so that PostgreSQL cannot be installed and started: name one with {URL}")
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="plumbline-postgresql-") as folder:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        cluster = f"{folder}/cluster"
        _as_postgres(str(programs / "initdb"), "--pgdata", cluster, "--auth", "trust", "--encoding", "UTF8")
        # A socket in the folder and no port: nothing else on this machine can be in the way.
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        control = str(programs / "pg_ctl")
        _as_postgres(control, "--pgdata", cluster, "--wait", "--log", f"{folder}/log", "--options", options, "start")
        try:
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        finally:
            _as_postgres(control, "--pgdata", cluster, "--wait", "--mode", "immediate", "stop")


def _programs() -> Path:
    """Where Debian keeps initdb and pg_ctl; installs them if need be."""
    if not _found():
        if shutil.which("apt-get") is None:
            pytest.skip(f"there is no PostgreSQL and no apt-get to install it: name a server with {URL}")
        done = subprocess.run(
            ["apt-get", "install", "--yes", "--no-install-recommends", "postgresql"],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            pytest.skip(f"PostgreSQL cannot be installed here ({done.stderr.strip()[-300:]}): name one with {URL}")
    return _found()[-1]


def _found() -> list[Path]:
    return sorted(path.parent for path in _DEBIAN.glob("*/bin/initdb"))


def _as_postgres(*command: str) -> None:
    subprocess.run(["runuser", "-u", "postgres", "--", *command], check=True, cwd="/", stdout=subprocess.DEVNULL)
