"""Forced drift in a run: verdicts on continuations of planted claims, and the difference for each arm.

Claims that restate the planted claim are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.analysis.faithfulness import BATCH_SIZE, key_of
from evaluation.analysis.retrieval_part import SampleKey
from evaluation.claims.sentences import plain_claim_text
from evaluation.drift.forced import Continuation, ForcedDrift, Planted, forced_drift
from evaluation.errors import EvaluationError
from evaluation.language.normalise import normalise
from evaluation.modifiers.planting import PLANTINGS, PlantedAnswerSet, planted_claim
from evaluation.outcomes import Label, Verdict
from evaluation.runs.arms import NotPossibleError
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.statistics.measure import Resampler
from model.pairs.scoring import Pair, PairScorer

FOLLOWS = "follows | "
_SEPARATOR = "+planted:"


@dataclass(frozen=True, slots=True)
class ForcedRun:
    """Continuations of planted claims in a run.

    follows: for each sample with claims, whether each claim restates or follows from the planted one, in the order of
    the sample's verdicts. told_by: name of the method that decided this.
    """

    records: tuple[SampleRecord, ...]
    follows: Mapping[SampleKey, tuple[bool, ...]]
    told_by: str


@dataclass(frozen=True, slots=True)
class ArmForced:
    """Forced drift of one arm.

    found: None if there is nothing to compare; ``reason`` says why. told_by: see ForcedRun.
    """

    arm: str
    found: ForcedDrift | None
    told_by: str
    reason: str = ""


def planted_name(arm: str, planted: Planted) -> str:
    """Return the name of the arm with a planted first claim."""
    return f"{arm}{_SEPARATOR}{planted}"


def follows_name(scorer: PairScorer, threshold: float) -> str:
    """Return the verifier name under which the marks of restatements are stored."""
    return f"{FOLLOWS}{scorer.name} >={threshold:g} or names it"


def mark_followers(
    run_id: str,
    records: Sequence[SampleRecord],
    questions: Sequence[Question],
    scorer: PairScorer,
    threshold: float,
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Mark the claims that name the planted answer or that the planted sentence entails, and store the marks.

    A mark is a verdict: "supported" means that the claim follows. Samples that have marks are skipped. Raises the
    errors of the scorer.
    """
    name = follows_name(scorer, threshold)
    known = store.load(run_id, name)
    by_id, plantings = {q.id: q for q in questions}, PlantedAnswerSet(questions)
    pending = [r for r in records if r.completion is not None and r.evaluation.verdicts and key_of(r) not in known]
    for start in range(0, len(pending), BATCH_SIZE):
        batch = pending[start : start + BATCH_SIZE]
        planted = [_planted_answer(r, by_id[r.question_id], plantings) for r in batch]
        pairs = [
            Pair(planted_claim(answer), claim, by_id[r.question_id].text)
            for r, answer in zip(batch, planted, strict=True)
            for v in r.evaluation.verdicts
            if _has_content(answer) and _has_content(claim := plain_claim_text(v.claim.text))
        ]
        scores = dict(zip(pairs, scorer.score(pairs), strict=True)) if pairs else {}
        marks = []
        for record, answer in zip(batch, planted, strict=True):
            text = by_id[record.question_id].text
            verdicts = []
            for v in record.evaluation.verdicts:
                claim = plain_claim_text(v.claim.text)
                score = scores.get(Pair(planted_claim(answer), claim, text), 0.0)
                support = 1.0 if _names(claim, answer) else score if score == score else 0.0
                label: Label = "supported" if support >= threshold else "unverifiable"
                verdicts.append(Verdict(v.claim, label, support, "restates or follows", (), name))
            marks.append((key_of(record), tuple(verdicts)))
        store.save(run_id, name, marks)
        if progress is not None:
            progress(min(start + BATCH_SIZE, len(pending)), len(pending))


def followers(verdicts: Mapping[SampleKey, tuple[Verdict, ...]]) -> dict[SampleKey, tuple[bool, ...]]:
    """Return the marks that ``mark_followers`` stored, by sample."""
    return {key: tuple(v.label == "supported" for v in mine) for key, mine in verdicts.items()}


def forced_parts(run: ForcedRun, resampler: Resampler) -> tuple[ArmForced, ...]:
    """Compute the difference for each arm with planted claims, in the order of the records."""
    arms = dict.fromkeys(r.arm.partition(_SEPARATOR)[0] for r in run.records)
    found = []
    for arm in arms:
        names = {planted_name(arm, planted): planted for planted in PLANTINGS}
        continuations = [
            _continuation(r, names[r.arm], run.follows.get(key_of(r), ()))
            for r in run.records
            if r.arm in names and r.completion is not None
        ]
        try:
            found.append(ArmForced(arm, forced_drift(continuations, resampler), run.told_by))
        except EvaluationError as error:
            found.append(ArmForced(arm, None, run.told_by, str(error)))
    return tuple(found)


def _continuation(record: SampleRecord, planted: Planted, follows: tuple[bool, ...]) -> Continuation:
    """Return the claims after the planted one, in the order of the text.

    Without planting, the model's own first claim stands in for the planted claim and is left out.
    """
    marks = follows or (False,) * len(record.evaluation.verdicts)
    ordered = sorted(zip(record.evaluation.verdicts, marks, strict=True), key=lambda m: m[0].claim.start)
    later = ordered[1:] if planted == "none" else ordered
    return Continuation(
        record.question_id,
        planted,
        tuple(None if v.label == "unscored" else v.label != "supported" for v, _ in later),
        tuple(follow for _, follow in later),
    )


def _planted_answer(record: SampleRecord, question: Question, plantings: PlantedAnswerSet) -> str:
    planted = next(p for p in PLANTINGS if record.arm.endswith(f"{_SEPARATOR}{p}"))
    try:
        return plantings.answers(question).of(planted)
    except NotPossibleError:
        return ""


def _names(claim: str, answer: str) -> bool:
    """Return whether the claim contains the words of the answer in sequence."""
    words = normalise(answer)
    return bool(words) and f" {words} " in f" {normalise(claim)} "


def _has_content(text: str) -> bool:
    return any(c.isalnum() for c in text)
