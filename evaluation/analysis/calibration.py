"""Calibration of the model's confidence in its claims: P(c | x) from a run's samples against the verdicts V(c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.claims.sentences import plain_claim_text
from evaluation.language.normalise import normalise
from evaluation.runs.records import SampleRecord
from evaluation.signals.claim_calibration import ClaimCalibration, ClaimProbability, claim_calibration

States = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""Function that decides for each (answer, claim) whether the answer states the claim."""


@dataclass(frozen=True, slots=True)
class ArmCalibration:
    """Claim calibration of one arm.

    found: calibration. by: name of the method that decides whether a sample states a claim.
    """

    arm: str
    found: ClaimCalibration
    by: str


def run_calibration(
    records: Sequence[SampleRecord], arms: Sequence[str], questions: dict[str, str], entailing: CachedEntailment | None
) -> tuple[ArmCalibration, ...]:
    """Estimate P(c | x) for every claim of every sample, from the question's other samples.

    records: samples of one decoding. questions: text of each question by ID.
    entailing: model that decides whether a sample states a claim. Without it, a sample states a claim if one of its own
    claims has the same words, ignoring articles, case and punctuation. This suffices for short answers but not for
    sentences.

    Arms with one sample per question are left out.
    """
    by = f"entailment by {entailing.name}" if entailing else "equal words"
    found = []
    for arm in arms:
        answers: dict[str, list[SampleRecord]] = {}
        for record in records:
            if record.arm == arm and record.completion is not None:
                answers.setdefault(record.question_id, []).append(record)
        if not any(len(mine) > 1 for mine in answers.values()):
            continue
        claims = [c for q, mine in answers.items() for c in _of_question(questions.get(q, ""), mine, entailing)]
        found.append(ArmCalibration(arm, claim_calibration(claims), by))
    return tuple(found)


def _of_question(
    question: str, samples: Sequence[SampleRecord], entailing: CachedEntailment | None
) -> list[ClaimProbability]:
    claims = [[(v, plain_claim_text(v.claim.text)) for v in r.evaluation.verdicts] for r in samples]
    texts = [" ".join(claim for _, claim in mine) for mine in claims]
    distinct = list(dict.fromkeys(claim for mine in claims for _, claim in mine))
    states: dict[tuple[int, str], bool] = {}
    if entailing is None:
        words = [{normalise(claim) for _, claim in mine} for mine in claims]
        states = {(i, c): normalise(c) in words[i] for i in range(len(samples)) for c in distinct}
    else:
        pairs = [(i, c) for i in range(len(samples)) for c in distinct if texts[i]]
        answered = entailing.entails([(f"{question} {texts[i]}", f"{question} {c}") for i, c in pairs])
        states = dict(zip(pairs, answered, strict=True))
    result = []
    for i, mine in enumerate(claims):
        for verdict, claim in mine:
            others = sum(states.get((j, claim), False) for j in range(len(samples)) if j != i)
            result.append(ClaimProbability(samples[i].question_id, others + 1, len(samples), verdict.support, own=True))
    return result
