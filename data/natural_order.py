"""Names in the order that people expect: numbers inside them by value, so that "row 2" comes before "row 10"."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d{1,18})", re.ASCII)


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """A key for sorting. Names that differ only in leading zeros are ordered by their characters."""
    parts = _NUMBER.split(name)
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), name
