"""Files that are there whole or not at all, and errors of the disk that name the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to, moved there at the end; removed if anything is raised.

    What is no regular file (a device, a pipe) is written to directly. Raises OSError, naming ``path``.
    """
    if path.exists() and not path.is_file():
        with naming_file(path):
            yield path
        return
    target = Path(os.path.realpath(path))  # a link stays one
    part = target.with_name(f".{target.name}.part")
    try:
        with naming_file(path):
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(target)
    finally:
        with suppress(OSError):  # a read-only folder: there is none
            part.unlink(missing_ok=True)


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """An OSError inside that names no file gets this one: "No space left on device" alone does not say where."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # numpy's "1000 requested and 3 written" is a short write
            raise OSError(f"{path} cannot be written whole ({error}): is the disk full?") from error
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
