"""Parse database URLs, and create the file of an SQLite database."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from data.errors import DataError
from data.private import make_private_folder, private_opener

_SQLITE_DRIVERS = ("sqlite", "sqlite+pysqlite")


def is_shared(url: str) -> bool:
    """Return whether the URL names a database server; False for a URL that cannot be parsed."""
    try:
        return parse_url(url).get_backend_name() != "sqlite"
    except DataError:
        return False


def parse_url(url: str) -> URL:
    """Parse the URL. Raises DataError unless it names SQLite or PostgreSQL."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise DataError(
            "the database URL cannot be read: write it as sqlite:///folder/plumbline.db (three slashes and a path) or "
            "postgresql://user:password@host/name"
        ) from error
    if backend not in ("sqlite", "postgresql") or (backend == "sqlite" and parsed.drivername not in _SQLITE_DRIVERS):
        raise DataError(f"databases of type {parsed.drivername!r} are not supported: use sqlite or postgresql")
    return parsed


def prepare_file(url: URL) -> URL:
    """Create the folder and the file of an SQLite database if missing, with access for their owner only.

    Returns the URL with the absolute path of the file. Raises DataError if the file or its folder is unusable.
    """
    name = url.database or ""
    if name in ("", ":memory:") or name.startswith("file:") or url.query:
        raise DataError(
            f"the SQLite database {name or '(no name)'!r} is not a regular file, which several connections can open. "
            "Give a path, as in sqlite:///folder/plumbline.db"
        )
    # Absolute, so that it stays valid when the process changes its working directory.
    path = Path(name).absolute()
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"the folder of the database {path} cannot be created ({error.strerror}): choose another folder"
        ) from error
    if path.is_dir():
        raise DataError(f"the database {path} is a folder: name a file in it, such as {path / 'plumbline.db'}")
    if not path.exists():
        with suppress(OSError):  # SQLite reports problems of its location
            open(path, "xb", opener=private_opener).close()
    return url.set(database=str(path))
