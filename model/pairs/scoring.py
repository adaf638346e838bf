"""The PairScorer protocol: scores pairs of evidence and claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pair:
    """Evidence that fits one window (``PairScorer.room``), a claim, and the question it answers (may be empty).

    full_evidence: all of the evidence, of any length, if the window is a part of it; else empty. answer: the claims of
    an answer that are read together with this one, in order and including it; empty to read it alone. Scorers without
    support for joint reading (``answer_tokens``) ignore it.
    """

    evidence: str
    claim: str
    question: str = ""
    full_evidence: str = ""
    answer: tuple[str, ...] = ()


class PairScorer(Protocol):
    """Scores how well evidence supports a claim: support in [0, 1], calibrated as well as the model allows."""

    @property
    def name(self) -> str:
        """Name and fingerprint: scorers with equal names give equal scores. At most 120 characters."""

    def room(self, claim: str, question: str = "") -> int:
        """Tokens (by ``count``) of evidence that fit with this claim and question; at least 1."""

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Number of tokens of each text."""

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair, in order. Equal pairs are scored once, batches are sorted by length.

        Evidence beyond the room is truncated: split it into windows first. progress: called with (done, total). Raises
        ModelError for an empty claim.
        """


def answer_tokens(scorer: PairScorer) -> int:
    """Maximum tokens of claims that a scorer reads together (``Pair.answer``): its ``answer_tokens``, 0 if it has none.

    The room for evidence with them is ``scorer.room(" ".join(claims), question)``.
    """
    return int(getattr(scorer, "answer_tokens", 0))


def languages_read(scorer: PairScorer) -> tuple[str, ...]:
    """The languages a scorer supports: its ``languages``; () if unknown, so that all may be tried."""
    return tuple(getattr(scorer, "languages", ()))
