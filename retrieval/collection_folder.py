"""Where a collection's files lie, what it may be called, and the lock that lets one process index it at a time."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrieval.errors import RetrievalError

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def check_name(collection: str) -> str:
    """The name, if it may be one: it names a folder, so nothing that a path could trip over. Else RetrievalError."""
    if not _NAME.fullmatch(collection):
        raise RetrievalError(
            f"{collection!r} cannot name a collection: use 1 to 64 letters (a-z, A-Z), digits, dots, dashes and "
            "underscores, without a dot in front"
        )
    return collection


def collection_folder(home: Path, collection: str) -> Path:
    """``home/collections/<name>``."""
    return home / "collections" / check_name(collection)


def generations_folder(home: Path, collection: str) -> Path:
    """``home/collections/<name>/generations``."""
    return collection_folder(home, collection) / "generations"


@contextmanager
def collection_lock(home: Path, collection: str) -> Iterator[None]:
    """Hold the collection for writing. Raises RetrievalError at once, naming the process, if another one holds it.

    The lock is the kernel's and ends with the process, however that ends; the file is only its handle. It lies outside
    the collection's folder and stays, because a lock file that is removed can be locked twice.
    """
    path = home / "locks" / f"index-{check_name(collection)}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise RetrievalError(
                f"the collection {collection!r} is being indexed by process {holder}; wait for it, or stop it"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
