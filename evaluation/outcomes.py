"""Claim, Verdict and AnswerEvaluation: from a completion's text to one of four outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Label = Literal["supported", "contradicted", "unverifiable", "unscored"]
Outcome = Literal["supported", "hallucinated", "abstained", "unscored"]
OUTCOMES: tuple[Outcome, ...] = ("hallucinated", "supported", "abstained", "unscored")

UNRESPONSIVE = "the evidence bears out all that is said, and none of it answers the question"
"""Reason of the verdict on an answer that is supported and unresponsive."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement the completion makes: ``completion.text[start:end] == text``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a verdict rests: ``document.text[start:end]``, or a reference answer (document_id None)."""

    document_id: str | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier says of one claim.

    support: V(c) in [0, 1], or None exactly when label is "unscored"; then reason says why. verifier: name/version.
    """

    claim: Claim
    label: Label
    support: float | None
    reason: str
    evidence: tuple[Evidence, ...]
    verifier: str

    def __post_init__(self) -> None:
        if (self.support is None) != (self.label == "unscored"):
            raise ValueError(f"verdict {self.label!r} with support {self.support}: only an unscored claim has none")
        if self.support is not None and not 0.0 <= self.support <= 1.0:
            raise ValueError(f"support is {self.support}: it must lie in [0, 1]")
        if self.label == "unscored" and not self.reason:
            raise ValueError("an unscored verdict must say why")


@dataclass(frozen=True, slots=True)
class AnswerEvaluation:
    """The outcome of one completion and the verdicts it rests on; reason says why when it is unscored."""

    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    reason: str = ""


def outcome_of(verdicts: tuple[Verdict, ...], refused: bool, reason: str = "") -> AnswerEvaluation:
    """Fold claim verdicts into the outcome (docs/architecture.md, rule 2).

    Hallucinated if any scored claim is contradicted or unverifiable; otherwise unscored if any claim is unscored;
    otherwise supported. An answer without a claim is abstained when it refuses, else unscored: it says nothing that
    could be true or false, and nothing that declines. reason: why it makes none, where that is known.
    """
    if not verdicts:
        if refused:
            return AnswerEvaluation("abstained", ())
        return AnswerEvaluation("unscored", (), reason or "the answer makes no claim and does not refuse")
    if any(v.label in ("contradicted", "unverifiable") for v in verdicts):
        return AnswerEvaluation("hallucinated", verdicts)
    for verdict in verdicts:
        if verdict.label == "unscored":
            return AnswerEvaluation("unscored", verdicts, verdict.reason)
    return AnswerEvaluation("supported", verdicts)


def is_unresponsive(evaluation: AnswerEvaluation) -> bool:
    """Whether a supported answer does not answer its question: a part of "supported" that is counted apart."""
    return evaluation.outcome == "supported" and any(v.reason == UNRESPONSIVE for v in evaluation.verdicts)
