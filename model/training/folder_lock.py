"""Lock the folder of a run, because two concurrent runs would remove each other's checkpoints."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from model.errors import ModelError


@contextmanager
def exclusive_run(folder: Path) -> Iterator[None]:
    """Lock ``folder`` for one run, and create it if it is missing. Raises ModelError at once if it is already locked.

    The lock is a kernel lock on the folder itself, so that it leaves no file and always ends with its process. A folder
    that was created here and is empty at the end is removed.
    """
    created = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ModelError(f"{folder} cannot be written to ({error}): give another folder", parameter="output") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ModelError(
                f"another run is training into {folder}: wait for it, stop it, or give another folder",
                parameter="output",
            ) from error
        try:
            yield
        finally:
            if created:
                with suppress(OSError):
                    folder.rmdir()
    finally:
        os.close(descriptor)
