"""Protocol of verifiers: V(c) of docs/architecture.md, terms, for a batch of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.outcomes import Claim, Verdict
from generation.prompt import PromptChunk


@dataclass(frozen=True, slots=True)
class VerificationItem:
    """One answer to judge. completion: its full text, to which the claims' offsets refer.

    shown: the chunks it was given. Used only for questions without any other source of truth (see ``faithful``); all
    other evidence is independent of the arm.
    """

    question: Question
    claims: tuple[Claim, ...]
    completion: str
    shown: tuple[PromptChunk, ...] = ()


FAILED = "the verifier failed"
"""Prefix of the reason of a claim that is unscored because a verifier failed; a retry may succeed."""


def failed(verdict: Verdict) -> bool:
    """Whether a claim is unscored because the verifier failed, and not for lack of anything to judge it by."""
    return verdict.label == "unscored" and verdict.reason.startswith(FAILED)


class Verifier(Protocol):
    """Judges claims by a source of truth that does not depend on the arm."""

    @property
    def name(self) -> str:
        """Name, version and all thresholds, at most 255 characters: verifiers with equal names give the same
        verdicts.
        """

    def extract(self, question: Question, completion: str) -> Extraction:
        """The claims of a completion as this verifier judges them. Depends on question and completion only."""

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """One tuple per item with one verdict per claim, both in order.

        A claim that cannot be judged gets the label "unscored" and a reason (with the prefix FAILED if the verifier
        failed), never an invented number.
        """
