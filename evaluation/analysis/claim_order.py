"""Drift in a run: every arm's responses as sequences of claims, in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.drift.drift import Drift, drift
from evaluation.drift.sequences import ClaimSequence
from evaluation.runs.records import SampleRecord
from evaluation.statistics.measure import Settings
from evaluation.verifiers.entailment import sees_other_claims

SEEN = (
    "claims were read together: a verdict that sees the other claims of its answer makes dependence of its own. Judge "
    "every claim alone"
)
SHORT = "every response makes one claim at most: neighbouring claims need answers of several sentences"


@dataclass(frozen=True, slots=True)
class ArmDrift:
    """One arm. found: None where there is nothing to look at, and why. several: responses of two claims or more."""

    arm: str
    several: int
    found: Drift | None
    reason: str = ""


def run_drift(
    records: Sequence[SampleRecord], arms: Sequence[str], settings: Settings, verifier: str = ""
) -> tuple[ArmDrift, ...]:
    """Drift of every arm by its claims' verdicts, which must come from a verifier that sees no earlier claim.

    verifier: the run's, by name; where it reads the claims of an answer together there is no drift to be found.
    """
    if sees_other_claims(verifier):
        return tuple(ArmDrift(arm, 0, None, SEEN) for arm in arms)
    found = []
    for arm in arms:
        sequences = [sequence_of(r) for r in records if r.arm == arm and r.evaluation.verdicts]
        several = sum(len(s.unsupported) > 1 for s in sequences)
        found.append(ArmDrift(arm, several, drift(sequences, settings)) if several else ArmDrift(arm, 0, None, SHORT))
    return tuple(found)


def sequence_of(record: SampleRecord) -> ClaimSequence:
    """A response's claims by their place in the text."""
    ordered = sorted(record.evaluation.verdicts, key=lambda v: (v.claim.start, v.claim.end))
    labels = tuple(None if v.label == "unscored" else v.label != "supported" for v in ordered)
    return ClaimSequence(record.question_id, labels)
