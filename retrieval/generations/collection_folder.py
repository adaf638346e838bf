"""Folders and valid names of collections, and the lock that allows one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from data.errors import StoreLockedError
from data.private import FILE_MODE, make_private_folder
from data.store import Lock, Store
from retrieval.errors import CollectionBusyError, RetrievalError

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def check_name(collection: str) -> str:
    """Return the name if it is valid as a folder name. Raises RetrievalError otherwise."""
    if not _NAME.fullmatch(collection):
        raise RetrievalError(
            f"{collection!r} cannot name a collection: use 1 to 64 letters (a-z, A-Z), digits, dots, dashes and "
            "underscores, without a dot in front"
        )
    return collection


def collection_folder(home: Path, collection: str) -> Path:
    """Return the collection's folder, ``home/collections/<name>``. Raises RetrievalError for an invalid name."""
    return home / "collections" / check_name(collection)


def generations_folder(home: Path, collection: str) -> Path:
    """Return the folder of the collection's generations, ``home/collections/<name>/generations``."""
    return collection_folder(home, collection) / "generations"


@contextmanager
def collection_lock(store: Store, home: Path, collection: str) -> Iterator[Lock]:
    """Hold the collection's write lock. Raises CollectionBusyError at once, naming the holder, if it is taken.

    The lock consists of a locked file in the home and a lock in the database, because processes with different homes
    may share a database. Both are released when the process ends, even if it is killed. The file names the holder. It
    is outside the collection's folder and is never removed, because a lock file that is removed can be locked twice.
    """
    path = home / "locks" / f"index-{check_name(collection)}.lock"
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CollectionBusyError(
                f"the collection {collection!r} is being written by {_holder(os.pread(descriptor, 1000, 0))}; "
                "wait for it, or stop it"
            ) from error
        now = datetime.now(UTC).isoformat(timespec="seconds")
        owner = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, owner.encode(), 0)
        with _database_lock(store, collection) as lock:
            yield lock
    finally:
        os.close(descriptor)


@contextmanager
def _database_lock(store: Store, collection: str) -> Iterator[Lock]:
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(store.hold(f"collection {collection}"))
        except StoreLockedError as error:
            raise CollectionBusyError(
                f"the collection {collection!r} is being written by a process with another home folder on the same "
                "database; wait for it, or stop it"
            ) from error
        yield lock


def _holder(written: bytes) -> str:
    """Return who wrote the lock file, for a message; it may be empty briefly between locking and writing."""
    try:
        holder = json.loads(written)
        return f"process {int(holder['pid'])} on {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
