"""Storage of the anchors of a certificate and of their judgements in the SQL store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from data.schema import anchor_checks
from data.store import Store
from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE
from evaluation.guarantee.watching.anchors import AnchorCheck, check_anchors
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class Anchor:
    """A labelled answer of a run with the score that a verifier gave it.

    hallucinated: label from people. score: support in [0, 1]; None if the verifier gave none.
    """

    question_id: str
    sample: int
    hallucinated: bool
    score: float | None


@dataclass(frozen=True, slots=True)
class AnchorJudgement:
    """Scores of all anchors of a certificate by one verifier.

    number: position among the certificate's judgements; 0 has the scores of the calibration.
    """

    number: int
    verifier: str
    anchors: tuple[Anchor, ...]
    checked_at: datetime


class AnchorStore:
    """Access to the anchors in the SQL store. Stateless. Raises DataError as the store does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self, certificate: str) -> tuple[AnchorJudgement, ...]:
        """Return all judgements of a certificate's anchors, in order; empty if there are none."""
        mine = select(anchor_checks).where(anchor_checks.c.certificate == certificate)
        with self._store.read() as connection:
            rows = connection.execute(mine.order_by(anchor_checks.c.number)).mappings().all()
        return tuple(
            AnchorJudgement(
                row["number"], row["verifier"], tuple(Anchor(**one) for one in row["anchors"]), row["created_at"]
            )
            for row in rows
        )

    def add(self, certificate: str, judged: Sequence[AnchorJudgement]) -> None:
        """Store judgements in one transaction.

        Raises EvaluationError if another process already stored a judgement with the same number.
        """
        rows = [
            {
                "certificate": certificate,
                "number": one.number,
                "verifier": one.verifier,
                "anchors": [asdict(anchor) for anchor in one.anchors],
                "created_at": one.checked_at,
            }
            for one in judged
        ]
        try:
            with self._store.write() as connection:
                connection.execute(insert(anchor_checks), rows)
        except IntegrityError as error:
            raise EvaluationError(
                f"another process checked the anchors of {certificate} at the same time: check again"
            ) from error


def compare_judgements(first: AnchorJudgement, now: AnchorJudgement, threshold: float, delta: float) -> AnchorCheck:
    """Test whether the verifier of ``now`` is worse on the anchors than that of the calibration.

    See ``check_anchors``.
    """
    wrong = np.array([anchor.hallucinated for anchor in first.anchors], dtype=np.bool_)
    return check_anchors(_scores(first), _scores(now), wrong, threshold, now.number, delta)


def _scores(judged: AnchorJudgement) -> Floats:
    scores = [NO_SCORE if anchor.score is None else anchor.score for anchor in judged.anchors]
    return np.array(scores, dtype=np.float64)
