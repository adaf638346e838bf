"""Restrict access to the home folder to its owner, including files that an earlier version left readable to others."""

from __future__ import annotations

import logging
from pathlib import Path

from data.private import make_private, make_private_folder

LOGGER = "plumbline.home"
_FOLDERS = ("collections", "locks", "staging", "reports", "weights", "tokenizers", "certificates")
_DATABASE = "plumbline.db"


def open_private_home(home: Path) -> int:
    """Create the home if it is missing, and remove the permissions of other users on Plumbline's files in it.

    Returns the number of files and folders that others could read, and logs a warning if there were any. A home that
    also contains other files keeps its permissions; only Plumbline's entries in it are restricted. If the home cannot
    be created, this function does not raise. The error appears when the home is first used.
    """
    try:
        if not home.exists():
            make_private_folder(home)
            return 0
        entries = [path for path in home.iterdir() if _is_own(path.name)]
        only_own = len(entries) == sum(1 for _ in home.iterdir())
    except OSError:
        return 0
    restricted = sum(make_private(path) for path in entries)
    if only_own:
        restricted += make_private(home)
    if restricted:
        logging.getLogger(LOGGER).warning(
            "plumbline: %d files and folders in %s were open to other users of this machine: access is now "
            "restricted to their owner (0700, 0600)",
            restricted,
            home,
        )
    return restricted


def _is_own(name: str) -> bool:
    return name in _FOLDERS or name == _DATABASE or name.startswith((f"{_DATABASE}-", f"{_DATABASE}."))
