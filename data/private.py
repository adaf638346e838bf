"""Create and restrict files and folders with access for their owner only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077


def make_private_folder(path: Path) -> None:
    """Create the folder and its missing parents with access for their owner only. Raises OSError."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path == path.parent:
            break
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file as ``open(opener=...)`` does. New files are accessible to their owner only."""
    return os.open(path, flags, FILE_MODE)


def make_private(path: Path) -> int:
    """Restrict a file, or a folder with its contents, to its owner. Returns the number of items that were changed.

    Symbolic links are not followed, and files of other users are not changed. Items that cannot be changed are skipped
    without an error.
    """
    return sum(_restrict(item) for item in _inside(path))


def _inside(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        try:
            entries = sorted(path.iterdir())
        except OSError:
            return
        for inner in entries:
            yield from _inside(inner)


def _restrict(path: Path) -> bool:
    """Restrict one file or folder. Returns whether it was accessible to others and no longer is."""
    try:
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if not plain or not mode & _OTHERS or status.st_uid != os.geteuid():
            return False
        path.chmod(mode & ~_OTHERS)
    except OSError:
        return False
    return True
