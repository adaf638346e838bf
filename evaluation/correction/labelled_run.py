"""Verdicts of a run, a draw and the labels people gave, put together and checked; then only numbers are left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.correction.rectified import Ints, LabelledSample
from evaluation.correction.sampling import LabelDraw
from evaluation.errors import EvaluationError
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.statistics.counts import Floats, OutcomeRecord

HALLUCINATED, SUPPORTED, ABSTAINED, UNSCORED = range(4)
ResponseKey = tuple[str, str, int]
"""(question, arm, sample)."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """N questions in A arms, m of them labelled, outcomes in the order of OUTCOMES.

    shares: (N, A, 4), the verifier's, of each question's responses, rows adding up to 1. place: (m,) which question.
    verifier, labels: (m, A, 4), a single 1 in each row: of the one labelled response. responses: (A,) of all questions.
    A person's "unscored" means that they could not tell.
    """

    arms: tuple[str, ...]
    question_ids: tuple[str, ...]
    shares: Floats
    place: Ints
    verifier: Floats
    labels: Floats
    stratum: Ints
    responses: tuple[int, ...]

    def arm(self, name: str) -> int:
        """The arm's place. Raises EvaluationError, naming the arms that were labelled, if it is not one of them."""
        if name not in self.arms:
            raise EvaluationError(f"arm {name!r} was not labelled: the draw has {', '.join(self.arms)}")
        return self.arms.index(name)

    def quantities(self, columns: list[tuple[int, tuple[int, ...]]], undecided: bool = False) -> LabelledSample:
        """A sample of K quantities, each the sum of some outcomes in one arm: (arm, outcomes). (N, K) and (m, K).

        undecided: whether labels of those who could not tell count too.
        """

        def pick(values: Floats, extra: tuple[int, ...] = ()) -> Floats:
            return np.stack([values[:, arm, [*outcomes, *extra]].sum(axis=1) for arm, outcomes in columns], axis=1)

        labels = pick(self.labels, (UNSCORED,) if undecided else ())
        return LabelledSample(pick(self.shares), self.place, pick(self.verifier), labels, self.stratum)


def join_labels(
    records: Iterable[OutcomeRecord], draw: LabelDraw, labels: Mapping[ResponseKey, Outcome]
) -> LabelledRun:
    """Put the verifier's outcomes, the draw and the labels (question, arm, sample) together.

    Raises EvaluationError when a drawn response has no label or is not in the run any more, a label is of a response
    that was not drawn (choosing what to label by hand is what a draw is to prevent), a label is no outcome, the run no
    longer has as many questions as were drawn from, or the draw is an active one.
    """
    if draw.active:
        raise EvaluationError(
            "these labels were drawn where the verifier was unsure: plumbline calibrate reads them, and no rate of a "
            "report is corrected by them. For corrected rates draw anew without --active"
        )
    index = {outcome: i for i, outcome in enumerate(OUTCOMES)}
    counts: dict[str, Floats] = {}
    verdicts: dict[ResponseKey, int] = {}
    arm_place = {arm: i for i, arm in enumerate(draw.arms)}
    for record in records:
        if record.arm in arm_place:
            place = arm_place[record.arm]
            outcome = index[record.outcome]
            counts.setdefault(record.question_id, np.zeros((len(draw.arms), 4)))[place, outcome] += 1.0
            verdicts[record.question_id, record.arm, record.sample] = outcome
    ids = tuple(sorted(q for q, table in counts.items() if np.all(table.sum(axis=1) > 0)))
    if len(ids) != draw.population:
        raise EvaluationError(
            f"labels were drawn from {draw.population} questions and the run has {len(ids)} now: draw again"
        )
    _check_labels(draw, labels, index)
    where = {question: i for i, question in enumerate(ids)}
    m, eye = len(draw.questions), np.eye(4)
    verifier, given = np.zeros((m, len(draw.arms), 4)), np.zeros((m, len(draw.arms), 4))
    for row, question in enumerate(draw.questions):
        for sample in question.samples:
            key = (question.question_id, sample.arm, sample.sample)
            if key not in verdicts:
                raise EvaluationError(f"{_named(key)} was drawn and is not in the run: take the labels of this run")
            verifier[row, arm_place[sample.arm]] = eye[verdicts[key]]
            given[row, arm_place[sample.arm]] = eye[index[labels[key]]]
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
    strange = sorted(set(labels) - drawn)
    if strange:
        raise EvaluationError(
            f"{len(strange)} labels are of responses that were not drawn, the first is {_named(strange[0])}: leave "
            "them out (labels that were chosen by hand say nothing of the others)"
        )
    for key, label in labels.items():
        if label not in index:
            raise EvaluationError(f"{_named(key)} is labelled {label!r}: it must be one of {', '.join(OUTCOMES)}")


def _strata(draw: LabelDraw, ids: tuple[str, ...], where: Mapping[str, int]) -> Ints:
    """(N,): the stratum of every question. Those not drawn are known only to be in one when there is just one."""
    stratum = np.zeros(len(ids), dtype=np.intp)
    if len(draw.strata) == 1:
        return stratum
    members = dict(draw.members)
    for question, place in where.items():
        if question not in members:
            raise EvaluationError(f"question {question!r} was in no stratum when labels were drawn: draw again")
        stratum[place] = members[question]
    return stratum


def _named(key: ResponseKey) -> str:
    return f"sample {key[2]} of question {key[0]!r} in arm {key[1]!r}"
