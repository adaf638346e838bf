"""Select items pseudo-randomly by hashes, independent of their order and of the machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def order_by_hash(items: Sequence[_Item], names: Sequence[str], key: str) -> tuple[_Item, ...]:
    """Sort the items in a pseudo-random order that depends only on ``key`` and each item's name."""
    digests = [hashlib.sha256(f"{key}\0{name}".encode("utf-8", "surrogatepass")).digest() for name in names]
    return tuple(
        item for _, _, item in sorted(zip(digests, range(len(items)), items, strict=True), key=lambda t: t[:2])
    )
