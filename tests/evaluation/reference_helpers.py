"""Judge one answer by its references."""

from __future__ import annotations

from data.questions import Question
from evaluation.outcomes import Claim, Verdict
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem

ASKED = "What is it?"


def judge(answer: str, *references: str, question: str = ASKED, **fields: object) -> Verdict:
    judged = Question("q1", question or ASKED, references, **fields)  # type: ignore[arg-type]
    item = VerificationItem(judged, (Claim(answer, 0, len(answer)),), answer)
    return ReferenceVerifier().verify([item])[0][0]
