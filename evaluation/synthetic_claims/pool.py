"""Material shared by all passages: names and sentence endings of other articles, and word frequencies."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.entities import Kind, inner_names, known_names
from evaluation.synthetic_claims.seeded_random import seeded_random
from evaluation.synthetic_claims.source_text import SourceText, is_claimable
from evaluation.synthetic_claims.trailing_phrases import can_move, tail_of
from evaluation.synthetic_claims.word_swaps import occurrences
from retrieval.chunking.sentences import sentence_spans

_ENOUGH = 15
_PASSAGES, _CHARACTERS = 160, 4_000


@dataclass(frozen=True, slots=True)
class Pool:
    """Material shared by all passages.

    names: names by kind. tails: sentence endings by kind, with repetition. counts: frequencies of the words that can be
    swapped.
    """

    names: Mapping[Kind, tuple[str, ...]]
    tails: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, int]

    def tail(self, kind: str, chance: Random) -> str | None:
        """Return a random sentence ending of that kind; None if too few are known."""
        found = self.tails.get(kind, ())
        return chance.choice(found) if len(found) >= _ENOUGH else None

    def name(self, kind: Kind, chance: Random) -> str | None:
        """Return a random name of that kind; None if none is known."""
        return chance.choice(self.names[kind]) if self.names.get(kind) else None


def make_pool(passages: Sequence[SourceText], seed: int) -> Pool:
    """Collect the material from up to 160 passages.

    They are those with the smallest SHA-256 hash of their text, so that order does not matter.
    """
    chosen = sorted(passages, key=lambda p: hashlib.sha256(p.text[:2000].encode("utf-8", "surrogatepass")).digest())
    names: dict[Kind, set[str]] = {}
    tails: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for passage in chosen[:_PASSAGES]:
        chance = seeded_random(seed, "pool", passage.title, passage.text)
        start = chance.randrange(max(1, len(passage.text) - _CHARACTERS))
        text = passage.text[start : start + _CHARACTERS].replace("\n", " ")
        counts.update(occurrences(text))
        sentences = [text[s.start : s.end] for s in sentence_spans(text)][1:-1]
        for known in known_names(sentences, inner_names(sentences)).values():
            if known.kind != "other":
                names.setdefault(known.kind, set()).add(known.name)
        for sentence in sentences:
            tail = tail_of(sentence) if is_claimable(sentence) else None
            if tail is not None and can_move(tail):
                tails.setdefault(tail.kind, []).append(tail.words)
    return Pool(
        {kind: tuple(sorted(found)) for kind, found in names.items()},
        {kind: tuple(sorted(found)) for kind, found in tails.items()},
        dict(counts),
    )
