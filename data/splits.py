"""Split reading examples into training and development by article, never by row."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from data.errors import DataError
from data.reading_examples import ReadingExample

_MIN_GROUPS = 50
_STEP = 6


@dataclass(frozen=True, slots=True)
class Split:
    """A split of reading examples. development: examples of articles that have no training example."""

    train: tuple[ReadingExample, ...]
    development: tuple[ReadingExample, ...]


def split_by_group(examples: Sequence[ReadingExample], percent: int = 4, hold_out: Collection[str] = ()) -> Split:
    """Split the examples by article (ReadingExample.group).

    percent: share of each source's articles for development, in per cent. hold_out: names of sources that are used only
    for development. The selection depends on the SHA-256 of the article's name alone, so that it is the same on every
    machine and for every subset of rows. For a source of 2 to 49 articles, every sixth article in the order of names is
    selected instead, since a share of few may be none. A source with one article is used for training. Raises DataError
    for a source in ``hold_out`` without examples.
    """
    groups: dict[str, set[str]] = {}
    for example in examples:
        groups.setdefault(example.source, set()).add(example.group)
    if unknown := sorted(set(hold_out) - set(groups)):
        raise DataError(f"there is no source {unknown[0]}: choose from {', '.join(sorted(groups))}")
    held_out = {name for names in groups.values() if 1 < len(names) < _MIN_GROUPS for name in sorted(names)[::_STEP]}
    few = {source for source, names in groups.items() if len(names) < _MIN_GROUPS}

    def is_held_out(example: ReadingExample) -> bool:
        if example.source in hold_out:
            return True
        if example.source in few:
            return example.group in held_out
        return int(hashlib.sha256(example.group.encode()).hexdigest(), 16) % 100 < percent

    return Split(tuple(e for e in examples if not is_held_out(e)), tuple(e for e in examples if is_held_out(e)))
