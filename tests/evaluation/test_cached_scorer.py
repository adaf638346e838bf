"""Scores remembered by content: the same numbers, fewer pairs scored, nothing kept that is no number."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.verifiers.cached_scorer import CachedScorer
from model.errors import ModelError
from model.pairs.scoring import Pair


class Counting(TokenOverlapScorer):
    """Token overlap that notes what it is asked; NaN for pelicans the first time, dies on boom."""

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        if any("boom" in p.claim for p in pairs):
            raise ModelError("out of memory")
        first = [p for p in pairs if p not in self.seen]
        self.seen.extend(pairs)
        scores = super().score(pairs)
        return tuple(math.nan if "pelican" in p.claim and p in first else s for p, s in zip(pairs, scores, strict=True))


PAIRS = [
    Pair("the mast is oak", "the mast", "what"),
    Pair("the mast is oak", "the deck"),
    Pair("x", "the mast", "what"),
]


def test_the_same_scores_from_fewer_pairs() -> None:
    plain, counting = TokenOverlapScorer(), Counting()
    cached = CachedScorer(counting)
    pairs = [PAIRS[0], PAIRS[1], PAIRS[0]]
    assert cached.score(pairs) == plain.score(pairs) and counting.seen == PAIRS[:2]
    assert cached.score([*PAIRS, *pairs]) == plain.score([*PAIRS, *pairs]) and counting.seen == PAIRS
    assert cached.score(pairs) == plain.score(pairs) and counting.seen == PAIRS
    assert (cached.received, cached.scored) == (12, 3) and cached.score([]) == ()
    assert (cached.name, cached.room("a"), list(cached.count(["a b"]))) == (
        plain.name,
        plain.room("a"),
        list(plain.count(["a b"])),
    )


def test_parts_of_a_pair_are_not_run_together() -> None:
    counting = Counting()
    CachedScorer(counting).score([Pair("ab", "c"), Pair("a", "bc"), Pair("a", "b", "c"), Pair("a", "bc\ud800")])
    assert len(counting.seen) == 4
    CachedScorer(counting).score([Pair("a", "b", "c"), Pair("a", "b", "c", "a d"), Pair("a", "b", "", "c")])
    assert len(counting.seen) == 7


def test_what_is_no_number_or_failed_is_asked_again() -> None:
    counting = Counting()
    cached = CachedScorer(counting)
    pelican = Pair("a pelican", "a pelican")
    assert math.isnan(cached.score([pelican])[0]) and cached.score([pelican]) == (1.0,)
    with pytest.raises(ModelError):
        cached.score([Pair("a", "boom"), PAIRS[0]])
    assert cached.score([PAIRS[0]]) == TokenOverlapScorer().score([PAIRS[0]])


def test_only_so_many_are_kept_the_longest_unasked_go() -> None:
    counting = Counting()
    cached = CachedScorer(counting, limit=2)
    for pair in (PAIRS[0], PAIRS[1], PAIRS[0], PAIRS[2]):
        cached.score([pair])
    counting.seen.clear()
    cached.score([PAIRS[0], PAIRS[2]])
    assert counting.seen == []
    cached.score([PAIRS[1]])
    assert counting.seen == [PAIRS[1]]
    with pytest.raises(ValueError, match=r"limit.* 0\b"):
        CachedScorer(counting, 0)


def test_several_threads_score_at_once_and_lose_nothing() -> None:
    both = threading.Barrier(2)

    class Meeting(TokenOverlapScorer):
        def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
            both.wait(60)  # breaks if one thread keeps the other out
            return super().score(pairs)

    cached = CachedScorer(Meeting(), limit=3)  # what one thread finds, the other pushes out
    batches = [[Pair(f"the {n} of {side}", f"the {n}") for n in range(10)] for side in "ab"]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(cached.score, batches))
    assert found == [TokenOverlapScorer().score(batch) for batch in batches]
    assert (cached.received, cached.scored) == (20, 20)
