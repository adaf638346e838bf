"""Natural sort order, in which numbers in names are compared by value: "row 2" precedes "row 10"."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d{1,18})", re.ASCII)


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return a sort key. Names that differ only in leading zeros are ordered by their characters."""
    parts = _NUMBER.split(name)
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), name
