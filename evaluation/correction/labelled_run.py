"""Join of a run's verdicts, a draw and human labels, which are checked and converted to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.correction.rectified import Ints, LabelledSample
from evaluation.correction.sampling import LabelDraw
from evaluation.errors import ActiveDrawError, EvaluationError
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.statistics.counts import Floats, OutcomeRecord

HALLUCINATED, SUPPORTED, ABSTAINED, UNSCORED = range(4)
ResponseKey = tuple[str, str, int]
"""Key of a response: (question, arm, sample)."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """N questions in A arms, m of them labelled. Outcomes are in the order of OUTCOMES.

    shares: (N, A, 4), shares of the verifier's outcomes over each question's responses; the last axis adds up to 1.
    question_index: (m,), index of each labelled question.
    verifier, labels: (m, A, 4), one-hot outcome of the labelled response by the verifier and by people.
    stratum: (N,), index of each question's stratum.
    responses: (A,), numbers of responses over all questions.

    A human label "unscored" means that the person could not tell.
    """

    arms: tuple[str, ...]
    question_ids: tuple[str, ...]
    shares: Floats
    question_index: Ints
    verifier: Floats
    labels: Floats
    stratum: Ints
    responses: tuple[int, ...]

    def arm(self, name: str) -> int:
        """Return the index of the arm. Raises EvaluationError, which lists the labelled arms, for any other arm."""
        if name not in self.arms:
            raise EvaluationError(f"arm {name!r} was not labelled: the draw has {', '.join(self.arms)}")
        return self.arms.index(name)

    def quantities(self, columns: list[tuple[int, tuple[int, ...]]], undecided: bool = False) -> LabelledSample:
        """Return a sample of K quantities, each a sum of outcomes in one arm, as arrays (N, K) and (m, K).

        columns: K pairs (arm, outcomes). undecided: whether labels "could not tell" count as well.
        """

        def pick(values: Floats, extra: tuple[int, ...] = ()) -> Floats:
            return np.stack([values[:, arm, [*outcomes, *extra]].sum(axis=1) for arm, outcomes in columns], axis=1)

        labels = pick(self.labels, (UNSCORED,) if undecided else ())
        return LabelledSample(pick(self.shares), self.question_index, pick(self.verifier), labels, self.stratum)


def join_labels(
    records: Iterable[OutcomeRecord], draw: LabelDraw, labels: Mapping[ResponseKey, Outcome]
) -> LabelledRun:
    """Join the verifier's outcomes, the draw and the labels, keyed by (question, arm, sample).

    Raises EvaluationError if a drawn response has no label or is not in the run; if a label belongs to a response that
    was not drawn (hand-picked responses would bias the estimate) or is not an outcome; and if the run's number of
    questions changed since the draw. Raises ActiveDrawError if the draw is active.
    """
    if draw.active:
        raise ActiveDrawError(
            "these labels come from an active draw, which prefers questions with uncertain verdicts. Only calibration "
            "can use them. Corrected rates need labels of a uniform draw"
        )
    index = {outcome: i for i, outcome in enumerate(OUTCOMES)}
    counts: dict[str, Floats] = {}
    verdicts: dict[ResponseKey, int] = {}
    arm_index = {arm: i for i, arm in enumerate(draw.arms)}
    for record in records:
        if record.arm in arm_index:
            column = arm_index[record.arm]
            outcome = index[record.outcome]
            counts.setdefault(record.question_id, np.zeros((len(draw.arms), 4)))[column, outcome] += 1.0
            verdicts[record.question_id, record.arm, record.sample] = outcome
    ids = tuple(sorted(q for q, table in counts.items() if np.all(table.sum(axis=1) > 0)))
    if len(ids) != draw.population:
        raise EvaluationError(
            f"labels were drawn from {draw.population} questions, but the run now has {len(ids)}: draw again"
        )
    _check_labels(draw, labels, index)
    where = {question: i for i, question in enumerate(ids)}
    m, eye = len(draw.questions), np.eye(4)
    verifier, given = np.zeros((m, len(draw.arms), 4)), np.zeros((m, len(draw.arms), 4))
    for row, question in enumerate(draw.questions):
        for sample in question.samples:
            key = (question.question_id, sample.arm, sample.sample)
            if key not in verdicts:
                raise EvaluationError(f"{_named(key)} was drawn but is not in the run: use labels of this run")
            verifier[row, arm_index[sample.arm]] = eye[verdicts[key]]
            given[row, arm_index[sample.arm]] = eye[index[labels[key]]]
    table = np.stack([counts[question] for question in ids])
    return LabelledRun(
        draw.arms,
        ids,
        table / table.sum(axis=2, keepdims=True),
        np.array([where[q.question_id] for q in draw.questions], dtype=np.intp),
        verifier,
        given,
        _strata(draw, ids, where),
        tuple(int(v) for v in table.sum(axis=(0, 2))),
    )


def _check_labels(draw: LabelDraw, labels: Mapping[ResponseKey, Outcome], index: Mapping[Outcome, int]) -> None:
    drawn = {(q.question_id, s.arm, s.sample) for q in draw.questions for s in q.samples}
    missing = sorted(drawn - set(labels))
    if missing:
        raise EvaluationError(
            f"{len(missing)} of {len(drawn)} drawn responses have no label, the first is {_named(missing[0])}: "
            "label them, or use the first questions of the draw only"
        )
    undrawn = sorted(set(labels) - drawn)
    if undrawn:
        raise EvaluationError(
            f"{len(undrawn)} labels are of responses that were not drawn, the first is {_named(undrawn[0])}: leave "
            "them out (hand-picked labels would bias the estimate)"
        )
    for key, label in labels.items():
        if label not in index:
            raise EvaluationError(f"{_named(key)} is labelled {label!r}: it must be one of {', '.join(OUTCOMES)}")


def _strata(draw: LabelDraw, ids: tuple[str, ...], where: Mapping[str, int]) -> Ints:
    """Return the stratum of each question, (N,).

    The stratum of undrawn questions is known only from ``draw.members``.
    """
    stratum = np.zeros(len(ids), dtype=np.intp)
    if len(draw.strata) == 1:
        return stratum
    members = dict(draw.members)
    for question, index in where.items():
        if question not in members:
            raise EvaluationError(f"question {question!r} was in no stratum when labels were drawn: draw again")
        stratum[index] = members[question]
    return stratum


def _named(key: ResponseKey) -> str:
    return f"sample {key[2]} of question {key[0]!r} in arm {key[1]!r}"
