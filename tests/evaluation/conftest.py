"""Fixture: a simple scorer for tests of the entailment verifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from model.errors import ModelError
from model.pairs.scoring import Pair


class Overlap:
    """A scorer whose support is the share of the claim's words in the evidence. It records its calls."""

    def __init__(self, room: int = 60) -> None:
        self._room = room
        self.calls: list[tuple[Pair, ...]] = []

    @property
    def name(self) -> str:
        return f"overlap/{self._room}"

    def room(self, claim: str, question: str = "") -> int:
        return max(1, self._room - len(claim.split()) - len(question.split()))

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.calls.append(tuple(pairs))
        return tuple(self._score(p) for p in pairs)

    def _score(self, pair: Pair) -> float:
        claim, evidence = (re.findall(r"\w+", t.casefold()) for t in (pair.claim, pair.evidence))
        if not claim:
            raise ModelError("the claim is empty")
        return sum(w in set(evidence) for w in claim) / len(claim)


@pytest.fixture
def overlap() -> type[Overlap]:
    """Return the class, because a conftest cannot be imported."""
    return Overlap
