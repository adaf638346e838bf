"""The home folder is for its owner alone; what an earlier version left open to others is closed when it is used."""

from __future__ import annotations

import logging
from pathlib import Path

from data.private import make_private, make_private_folder

LOGGER = "plumbline.home"
_OWN = ("collections", "locks", "staging", "reports", "weights", "tokenizers", "certificates")
_DATABASE = "plumbline.db"


def open_private_home(home: Path) -> int:
    """Make the home if it is missing, and take what is Plumbline's in it from everybody but its owner.

    Returns how many files and folders were open to others, and logs a line if there were any. A folder that holds
    other things beside Plumbline's own stays as it is; only Plumbline's own entries in it are closed. Nothing is raised
    for a home that cannot be made: whoever needs it says so.
    """
    try:
        if not home.exists():
            make_private_folder(home)
            return 0
        entries = [path for path in home.iterdir() if _own(path.name)]
        alone = len(entries) == sum(1 for _ in home.iterdir())
    except OSError:
        return 0
    closed = sum(make_private(path) for path in entries)
    if alone:
        closed += make_private(home)
    if closed:
        logging.getLogger(LOGGER).warning(
            "plumbline: %d files and folders in %s were open to other users of this machine: now they are their "
            "owner's alone (0700, 0600)",
            closed,
            home,
        )
    return closed


def _own(name: str) -> bool:
    return name in _OWN or name == _DATABASE or name.startswith(f"{_DATABASE}-") or name.startswith(f"{_DATABASE}.")
