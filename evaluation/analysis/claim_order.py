"""Drift in a run: each arm's responses as sequences of claims in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.drift.drift import Drift, drift
from evaluation.drift.sequences import ClaimSequence
from evaluation.runs.records import SampleRecord
from evaluation.statistics.measure import Settings
from evaluation.verifiers.entailment import reads_claims_together

SEEN = (
    "the verifier read the claims of an answer together, so its verdicts depend on each other. Judge each claim "
    "separately"
)
SHORT = "every response has at most one claim: drift needs answers of several sentences"


@dataclass(frozen=True, slots=True)
class ArmDrift:
    """Drift of one arm.

    several: number of responses with at least two claims. found: None if there is nothing to test; ``reason`` says why.
    """

    arm: str
    several: int
    found: Drift | None
    reason: str = ""


def run_drift(
    records: Sequence[SampleRecord], arms: Sequence[str], settings: Settings, verifier: str = ""
) -> tuple[ArmDrift, ...]:
    """Test each arm for drift, using the verdicts on its claims. The verifier must not see earlier claims.

    verifier: name of the run's verifier. Drift cannot be tested if it reads the claims of an answer together.
    """
    if reads_claims_together(verifier):
        return tuple(ArmDrift(arm, 0, None, SEEN) for arm in arms)
    found = []
    for arm in arms:
        sequences = [sequence_of(r) for r in records if r.arm == arm and r.evaluation.verdicts]
        several = sum(len(s.unsupported) > 1 for s in sequences)
        found.append(ArmDrift(arm, several, drift(sequences, settings)) if several else ArmDrift(arm, 0, None, SHORT))
    return tuple(found)


def sequence_of(record: SampleRecord) -> ClaimSequence:
    """Return the claims of a response in the order of the text, each unsupported or not; None for an unscored claim."""
    ordered = sorted(record.evaluation.verdicts, key=lambda v: (v.claim.start, v.claim.end))
    labels = tuple(None if v.label == "unscored" else v.label != "supported" for v in ordered)
    return ClaimSequence(record.question_id, labels)
