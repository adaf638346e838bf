"""Write files atomically, and name the file in disk errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``. It is renamed to ``path`` at the end, or removed on an error.

    A special file (a device, a pipe) is written directly. Raises OSError, which names ``path``.
    """
    if path.exists() and not path.is_file():
        with naming_file(path):
            yield path
        return
    target = Path(os.path.realpath(path))  # a link remains a link
    part = target.with_name(f".{target.name}.part")
    try:
        with naming_file(path):
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(target)
    finally:
        with suppress(OSError):  # a read-only folder: the file does not exist
            part.unlink(missing_ok=True)


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Add the path to an OSError that names no file, such as "No space left on device"."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # raised by numpy after a short write ("1000 requested and 3 written")
            raise OSError(f"{path} cannot be written completely ({error}): is the disk full?") from error
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
