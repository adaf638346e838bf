"""The interface of scorers for pairs of evidence and claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pair:
    """Evidence and a claim, to be scored together.

    evidence: text that fits one window (``PairScorer.room``). question: the question that the claim answers; may be
    empty. full_evidence: the complete evidence, of any length, if ``evidence`` is a window of it; else empty. answer:
    the claims of an answer to read together with this one, in order and including it; empty to read it alone. Scorers
    that cannot read claims jointly (``answer_tokens``) ignore it.
    """

    evidence: str
    claim: str
    question: str = ""
    full_evidence: str = ""
    answer: tuple[str, ...] = ()


class PairScorer(Protocol):
    """A scorer of how well evidence supports a claim, as a number in [0, 1]."""

    @property
    def name(self) -> str:
        """Name with fingerprint, at most 120 characters. Scorers with equal names give equal scores."""

    def room(self, claim: str, question: str = "") -> int:
        """Return the number of evidence tokens that fit with this claim and question; at least 1."""

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text."""

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair, in order. Equal pairs are scored once.

        Evidence that does not fit (``room``) is truncated, so split it into windows first. progress: called with (pairs
        done, total). Raises ModelError for an empty claim.
        """


def answer_tokens(scorer: PairScorer) -> int:
    """Return the maximum number of tokens of claims that a scorer reads together (``Pair.answer``); 0 if it cannot.

    With them, ``scorer.room(" ".join(claims), question)`` tokens of evidence fit.
    """
    return int(getattr(scorer, "answer_tokens", 0))


def languages_read(scorer: PairScorer) -> tuple[str, ...]:
    """Return the languages that a scorer supports; () if unknown."""
    return tuple(getattr(scorer, "languages", ()))
