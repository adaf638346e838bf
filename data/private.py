"""Files and folders for their owner alone: made so, and closed where they were open to others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077


def make_private_folder(path: Path) -> None:
    """Make the folder and those above it that are missing, all for their owner alone. Raises OSError."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path == path.parent:
            break
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """For ``open(opener=...)``: a file that is made is for its owner alone, whatever the umask."""
    return os.open(path, flags, FILE_MODE)


def make_private(path: Path) -> int:
    """Take a file, or a folder with all that is in it, from everybody but its owner. Returns how many were open.

    Symbolic links are not followed, and what belongs to another user is left alone. Never raises OSError: what cannot
    be changed stays as it is.
    """
    return sum(_closed(found) for found in _inside(path))


def _inside(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        try:
            found = sorted(path.iterdir())
        except OSError:
            return
        for inner in found:
            yield from _inside(inner)


def _closed(path: Path) -> bool:
    """Whether it was open to others, and is no more."""
    try:
        found = path.lstat()
        mode = stat.S_IMODE(found.st_mode)
        plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if not plain or not mode & _OTHERS or found.st_uid != os.geteuid():
            return False
        path.chmod(mode & ~_OTHERS)
    except OSError:
        return False
    return True
