"""Claims, verdicts and the outcome of an answer, which is derived from its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Label = Literal["supported", "contradicted", "unverifiable", "unscored"]
Outcome = Literal["supported", "hallucinated", "abstained", "unscored"]
OUTCOMES: tuple[Outcome, ...] = ("hallucinated", "supported", "abstained", "unscored")

UNRESPONSIVE = "the evidence supports all claims, but none of them answers the question"
"""Reason of the verdict on an answer that is supported but unresponsive."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement the completion makes: ``completion.text[start:end] == text``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Location of the evidence: ``document.text[start:end]``, or a reference answer (document_id None)."""

    document_id: str | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of a verifier on one claim.

    support: V(c) in [0, 1]; None exactly if the label is "unscored". reason: explanation; required for "unscored".
    verifier: name/version of the verifier.
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
    """Outcome of one completion and its verdicts. reason: why the completion is unscored, else empty."""

    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    reason: str = ""


def outcome_of(verdicts: tuple[Verdict, ...], refused: bool, reason: str = "") -> AnswerEvaluation:
    """Derive the outcome of an answer from the verdicts on its claims (docs/architecture.md, rule 2).

    Hallucinated if any scored claim is contradicted or unverifiable; otherwise unscored if any claim is unscored;
    otherwise supported. An answer without claims is abstained if it refuses, else unscored: nothing in it can be true
    or false. refused: whether the answer declines. reason: why there is no claim, if known.
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
    """Return whether an answer is supported but does not answer its question.

    Unresponsive answers are a subset of the supported ones and have their own count.
    """
    return evaluation.outcome == "supported" and any(v.reason == UNRESPONSIVE for v in evaluation.verdicts)
