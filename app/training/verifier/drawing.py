"""Draw labelled pairs at random for training and scoring, with limits per source and label."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence

from data.pairs import PairExample


def drawn(
    examples: Sequence[PairExample], seed: int, *, balance: float | None, source_cap: int | None, most: int | None
) -> list[PairExample]:
    """Return the examples in random order, within these limits. None sets no limit.

    balance: maximum number of supported examples of a source per unsupported one. source_cap: maximum number of
    examples of a source. most: maximum number of all examples.
    """
    found = list(examples)
    random.Random(seed).shuffle(found)
    if balance is not None:
        room = Counter(example.source for example in found if not example.supported)
        left = {source: math.ceil(balance * count) for source, count in room.items()}
        kept = []
        for example in found:
            if example.supported:
                left[example.source] = left.get(example.source, 0) - 1
            if not example.supported or left[example.source] >= 0:
                kept.append(example)
        found = kept
    if source_cap is not None:
        seen: Counter[str] = Counter()
        kept = []
        for example in found:
            seen[example.source] += 1
            if seen[example.source] <= source_cap:
                kept.append(example)
        found = kept
    return found[:most]


def fair_sample(examples: Sequence[PairExample], most: int, seed: int) -> list[PairExample]:
    """Return about ``most`` examples with the same maximum number per source, and at least one of each source."""
    by_source: dict[str, list[PairExample]] = defaultdict(list)
    for example in examples:
        by_source[example.source].append(example)
    share = max(min(1, most), most // max(1, len(by_source)))
    out: list[PairExample] = []
    for source in sorted(by_source):
        some = by_source[source]
        random.Random(seed).shuffle(some)
        out.extend(some[:share])
    return out
