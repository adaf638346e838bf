"""Correct the rates of scored answers by the labels in their file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.scoring.json_output import LABELS_NOTE
from app.scoring.result import ScoredAnswer, ScoreResult
from evaluation.correction.corrected import CorrectedArm, CorrectedPair, CorrectedRun, CorrectedSettings, correct
from evaluation.correction.corrected_figures import FEWEST_QUESTIONS, CorrectedFigures
from evaluation.correction.labelled_run import LabelledRun
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.reports.corrected_view import corrected_json

CORRECTED_NOTE = (
    "The table of rates is the verifier's and inherits its errors; the corrected figures also use the "
    "labels, and are valid if the labelled answers are a random sample (or all of them)."
)


def score_corrected(result: ScoreResult) -> CorrectedFigures | None:
    """Return the corrected figures of all arms and compared pairs, or None without labelled answers.

    An answer that is not labelled as hallucinated counts as abstained if the verifier detected a refusal, otherwise as
    supported. If a question has several labelled answers of one arm, one of them is drawn at random. An arm or a pair
    with fewer than FEWEST_QUESTIONS labelled questions has no figure.
    """
    labelled = [a for a in result.answers if a.record.hallucinated is not None]
    if not labelled or result.kind == "labels":
        return None
    settings = CorrectedSettings(level=result.summary.settings.level, seed=result.summary.settings.seed)
    arms: list[CorrectedArm] = []
    pairs: list[CorrectedPair] = []
    for arm in result.summary.arms:
        run = labelled_answers(result.answers, (arm.arm,), settings.seed)
        if run is not None:
            arms.extend(correct(run, (), settings, result.summary).arms)
    have = {arm.arm for arm in arms}
    for pair in result.summary.pairs:
        both = (pair.baseline, pair.other)
        run = labelled_answers(result.answers, both, settings.seed) if have.issuperset(both) else None
        if run is not None:
            pairs.extend(correct(run, [both], settings, result.summary).pairs)
    groups = {a.group for a in result.answers}
    used = {a.group for a in labelled}
    found = CorrectedRun(settings, len(groups), len(used), tuple(arms), tuple(pairs)) if arms else None
    reason = "" if found else f"no system has {FEWEST_QUESTIONS} labelled questions"
    source = f"{len(labelled)} of {len(result.answers)} answers, assumed to be a random sample"
    if len(labelled) == len(result.answers):
        source = f"all {len(labelled)} answers"
    return CorrectedFigures(found, reason, len(used), len(used) if found else 0, 0, (), (), source)


def labelled_answers(answers: Sequence[ScoredAnswer], arms: tuple[str, ...], seed: int) -> LabelledRun | None:
    """Return the questions that all of these arms answered, with one labelled answer of each arm if there is one.

    Returns None if fewer than FEWEST_QUESTIONS questions are labelled in all of these arms.
    """
    by_group_and_arm: dict[tuple[str, str], list[ScoredAnswer]] = {}
    for answer in answers:
        by_group_and_arm.setdefault((answer.group, answer.record.arm), []).append(answer)
    groups = sorted({group for group, _ in by_group_and_arm if all((group, arm) in by_group_and_arm for arm in arms)})
    rng = np.random.default_rng([seed, len(groups), len(arms)])
    eye = np.eye(len(OUTCOMES))
    index = {outcome: i for i, outcome in enumerate(OUTCOMES)}
    positions, verifier, labels = [], [], []
    for number, group in enumerate(groups):
        known = [[a for a in by_group_and_arm[group, arm] if a.record.hallucinated is not None] for arm in arms]
        if not all(known):
            continue
        chosen = [of_arm[int(rng.integers(len(of_arm)))] for of_arm in known]
        positions.append(number)
        verifier.append([eye[index[a.evaluation.outcome]] for a in chosen])
        labels.append([eye[index[_label(a)]] for a in chosen])
    if len(positions) < FEWEST_QUESTIONS:
        return None
    shares = np.stack([[_shares(by_group_and_arm[group, arm]) for arm in arms] for group in groups])
    return LabelledRun(
        arms,
        tuple(groups),
        shares,
        np.array(positions, dtype=np.intp),
        np.array(verifier),
        np.array(labels),
        np.zeros(len(groups), dtype=np.intp),
        tuple(sum(len(by_group_and_arm[group, arm]) for group in groups) for arm in arms),
    )


def rates_note(figures: CorrectedFigures | None) -> str:
    """Return the note that says whether the rates are corrected by labels."""
    return CORRECTED_NOTE if figures is not None and figures.run is not None else LABELS_NOTE


def with_corrected(document: dict[str, Any], figures: CorrectedFigures | None) -> dict[str, Any]:
    """Return the JSON document of scored answers with the corrected figures added."""
    if figures is None:
        return document
    corrected = figures.run is not None
    if corrected:
        notes = [CORRECTED_NOTE if note == LABELS_NOTE else note for note in document["notes"]]
        document = {**document, "notes": notes}
    return {**document, "corrected": corrected, "corrected_by_labels": corrected_json(figures)}


def _label(answer: ScoredAnswer) -> Outcome:
    if answer.record.hallucinated:
        return "hallucinated"
    return "abstained" if answer.evaluation.outcome == "abstained" else "supported"


def _shares(answers: Sequence[ScoredAnswer]) -> list[float]:
    return [sum(a.evaluation.outcome == outcome for a in answers) / len(answers) for outcome in OUTCOMES]
