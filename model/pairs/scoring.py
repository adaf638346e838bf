"""What scores a pair of evidence and claim: the protocol, whatever model stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pair:
    """Evidence that fits one window (``PairScorer.room``), a claim, and the question it answers (may be empty).

    whole: all of the evidence, where the window is a part of it; of any length, empty where the window is all.
    answer: the claims of an answer that are read together with this one, in order and it among them; empty to read it
    alone. A scorer that cannot read claims together (``answer_tokens``) passes over it.
    """

    evidence: str
    claim: str
    question: str = ""
    whole: str = ""
    answer: tuple[str, ...] = ()


class PairScorer(Protocol):
    """Says how well evidence supports a claim: support in [0, 1], calibrated as well as its maker could."""

    @property
    def name(self) -> str:
        """Name and fingerprint: scorers of one name give the same scores. At most 120 characters."""

    def room(self, claim: str, question: str = "") -> int:
        """Tokens (by ``count``) of evidence that fit beside this claim and question; at least 1."""

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Number of tokens of each text."""

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Support of each pair, in order. Equal pairs are scored once, batches are sorted by length.

        Evidence beyond the room is cut off: cut it into windows first. progress: called with (done, all). Raises
        ModelError for an empty claim.
        """


def answer_tokens(scorer: PairScorer) -> int:
    """Most tokens of claims that a scorer reads together (``Pair.answer``): its ``answer_tokens``, 0 where it has none.

    The room for evidence beside them is ``scorer.room(" ".join(claims), question)``.
    """
    return int(getattr(scorer, "answer_tokens", 0))


def languages_read(scorer: PairScorer) -> tuple[str, ...]:
    """The languages that a scorer was made for: its ``languages``; () where nothing is said, and all may be tried."""
    return tuple(getattr(scorer, "languages", ()))
