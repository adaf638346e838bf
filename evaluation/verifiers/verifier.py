"""The protocol every verifier stands behind: V(c) of docs/architecture.md, terms, for a batch of answers."""

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
    """One answer to judge. completion: its whole text, which the claims' offsets point into.

    shown: the chunks it was given. Only for questions that nothing else judges (see ``faithful``): all other evidence
    is independent of the arm.
    """

    question: Question
    claims: tuple[Claim, ...]
    completion: str
    shown: tuple[PromptChunk, ...] = ()


FAILED = "the verifier failed"
"""How the reason begins for a claim that is unscored because a verifier could not do its work: worth another try."""


def failed(verdict: Verdict) -> bool:
    """Whether a claim is unscored because the verifier failed, and not because there is nothing to judge it by."""
    return verdict.label == "unscored" and verdict.reason.startswith(FAILED)


class Verifier(Protocol):
    """Judges claims against a reference source of truth that does not depend on the arm."""

    @property
    def name(self) -> str:
        """Name, version and every threshold: verifiers of one name give the same verdicts. At most 255 characters."""

    def extract(self, question: Question, completion: str) -> Extraction:
        """The claims of a completion as this verifier judges them. Depends on these two only, never on the arm."""

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """One tuple per item, one verdict per claim, both in the order given.

        A claim that cannot be judged gets the label "unscored" and a reason (that begins with FAILED where the verifier
        is to blame), never an invented number.
        """
