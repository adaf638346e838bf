"""Split pair examples into training, development and held-out examples by source and group."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from data.errors import DataError
from data.pairs import PairExample

_PART = re.compile(r"(.*):(\d+)%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PairSplit:
    """A split of pair examples.

    train: training examples. development: examples of other groups of the same sources. unseen: examples of the
    held-out sources.
    """

    train: tuple[PairExample, ...]
    development: tuple[PairExample, ...]
    unseen: tuple[PairExample, ...]


def split_pairs(examples: Sequence[PairExample], hold_out: Collection[str] = (), percent: int = 3) -> PairSplit:
    """Split the examples by the SHA-256 of their groups' names alone.

    hold_out: names of sources to hold out; a trailing * matches a prefix, and a share ("begin:17%", "summedits_*:17%")
    holds out only that share of their groups. percent: share of the groups for development, in per cent. Raises
    DataError for an unknown source, and for an invalid share.
    """
    shares = _shares({example.source for example in examples}, hold_out, percent)

    def bucket(example: PairExample) -> int:
        return int(hashlib.sha256(example.group.encode()).hexdigest(), 16) % 100

    train: list[PairExample] = []
    development: list[PairExample] = []
    unseen: list[PairExample] = []
    for example in examples:
        share, position = shares.get(example.source, 0), bucket(example)
        if share == 100 or percent <= position < percent + share:
            unseen.append(example)
        else:
            (development if position < percent else train).append(example)
    return PairSplit(tuple(train), tuple(development), tuple(unseen))


def sources_named(pattern: str, sources: Collection[str]) -> set[str]:
    """Return the sources that match a name, or a prefix with a trailing *. Raises DataError if there is none."""
    found = {s for s in sources if s == pattern or (pattern.endswith("*") and s.startswith(pattern[:-1]))}
    if not found:
        raise DataError(f"there is no source {pattern}: choose from {', '.join(sorted(sources))}")
    return found


def _shares(sources: Collection[str], hold_out: Collection[str], percent: int) -> dict[str, int]:
    """Return the share of each source's groups to hold out, in per cent; 100 for the entire source."""
    shares: dict[str, int] = {}
    for option in hold_out:
        part = None if option in sources else _PART.fullmatch(option)
        name, share = (part[1], int(part[2])) if part else (option, 100)
        if part and not 1 <= share <= 100 - percent:
            raise DataError(
                f"{option}: the share must be from 1 to {100 - percent} per cent; omit it to hold out the entire source"
            )
        shares |= {source: max(share, shares.get(source, 0)) for source in sources_named(name, sources)}
    return shares
