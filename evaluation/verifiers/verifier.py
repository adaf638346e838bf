"""Define the interface of verifiers, which compute V(c) (docs/architecture.md, terms) for a batch of answers."""

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
    """One answer to judge.

    claims: claims of the answer. Their offsets refer to the completion.
    completion: full text of the answer.
    shown: chunks in the answer's prompt. They are used only for questions without any other source of truth (see
        ``faithful``). All other evidence is independent of the arm.
    """

    question: Question
    claims: tuple[Claim, ...]
    completion: str
    shown: tuple[PromptChunk, ...] = ()


FAILED = "the verifier failed"
"""Prefix of the reason of a claim that is unscored because a verifier failed. A retry may succeed."""


def failed(verdict: Verdict) -> bool:
    """Return whether a claim is unscored because the verifier failed, and not because there is nothing to judge by."""
    return verdict.label == "unscored" and verdict.reason.startswith(FAILED)


class Verifier(Protocol):
    """Interface of a verifier, which judges claims by a source of truth that does not depend on the arm."""

    @property
    def name(self) -> str:
        """Name with version and all thresholds, at most 255 characters. Equal names give equal verdicts."""

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract the claims that this verifier judges. They depend only on question and completion."""

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one tuple per item with one verdict per claim, both in order.

        A claim that cannot be judged gets the label "unscored" and a reason, never an invented number. The reason has
        the prefix FAILED if the verifier failed.
        """
