"""Splitting pair examples into training and development: whole sources, and a share of the groups of the others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from data.errors import DataError
from data.pairs import PairExample


@dataclass(frozen=True, slots=True)
class PairSplit:
    """train: to learn from. development: of other groups of the same sources. unseen: of sources held out whole."""

    train: tuple[PairExample, ...]
    development: tuple[PairExample, ...]
    unseen: tuple[PairExample, ...]


def split_pairs(examples: Sequence[PairExample], hold_out: Collection[str] = (), percent: int = 3) -> PairSplit:
    """Hold out ``percent`` per cent of the groups, by SHA-256 of their names, and the sources ``hold_out`` whole.

    hold_out: names of sources; one that ends in * stands for all that begin so. Raises DataError for a name that no
    source has.
    """
    sources = {example.source for example in examples}
    held: set[str] = set()
    for name in hold_out:
        found = {s for s in sources if s == name or (name.endswith("*") and s.startswith(name[:-1]))}
        if not found:
            raise DataError(f"no source is called {name}: there are {', '.join(sorted(sources))}")
        held |= found

    def out(example: PairExample) -> bool:
        return int(hashlib.sha256(example.group.encode()).hexdigest(), 16) % 100 < percent

    seen = [example for example in examples if example.source not in held]
    return PairSplit(
        tuple(example for example in seen if not out(example)),
        tuple(example for example in seen if out(example)),
        tuple(example for example in examples if example.source in held),
    )
