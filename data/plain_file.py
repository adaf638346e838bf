"""Open untrusted files: regular files only, up to a maximum size."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path


def open_plain(path: Path, *, most: int | None = None) -> BufferedReader:
    """Open a regular file for reading.

    most: maximum size in bytes; None for no limit. Raises OSError, which names the file, for a device, a pipe (without
    blocking), a socket, a folder or a symbolic link, and for a file that is too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if most is not None and status.st_size > most:
            raise OSError(errno.EFBIG, f"it has {status.st_size} bytes, but may have at most {most}", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_plain_text(path: Path, most: int) -> str:
    """Return the text of a regular UTF-8 file of at most ``most`` bytes.

    Raises OSError as ``open_plain`` does, and UnicodeDecodeError.
    """
    with open_plain(path, most=most) as file:
        return file.read(most).decode("utf-8")
