"""Compare the questions in service with those of a certificate's calibration."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.pipeline import Pipeline
from evaluation.audits.audit import StoredAudit
from evaluation.audits.audit_store import AuditStore
from evaluation.errors import EvaluationError
from evaluation.guarantee.certificate import Certificate
from evaluation.guarantee.watching.shift import FEWEST, ShiftWatch, distances
from evaluation.runs.run_store import RunStore
from evaluation.statistics.counts import Floats

FEWEST_QUESTIONS = 30


@dataclass(frozen=True, slots=True)
class ShiftState:
    """The alarm for questions that are unlike those of the calibration.

    questions: number of audited questions so far. log_capital: logarithm of the capital of the test's bets.
    raised_after: number of questions until the alarm; None if it was not raised. reason: reason why there is no watch,
    "" if there is one.
    """

    questions: int = 0
    log_capital: float = 0.0
    raised_after: int | None = None
    reason: str = ""

    @property
    def raised(self) -> bool:
        """Whether the alarm was ever raised."""
        return self.raised_after is not None


@dataclass(frozen=True, slots=True)
class CalibrationQuestions:
    """The questions of a calibration, in two parts.

    reference: unit vectors of one part, (M, E). distances: distances of the other part from the reference, (N,).
    """

    reference: Floats
    distances: Floats


def calibration_questions(pipeline: Pipeline, certificate: Certificate) -> CalibrationQuestions | str:
    """Return the questions of the certificate's run, split at random, or the reason why they cannot be used.

    Half of the questions, but at least FEWEST, give the distances from which the watch starts. The split depends on the
    IDs of the certificate and the questions.
    """
    try:
        texts = {q.id: q.text for q in RunStore(pipeline.store).load_questions(certificate.run)}
    except EvaluationError:
        return f"its run {certificate.run} is no longer stored"
    if len(texts) < FEWEST_QUESTIONS:
        return f"its calibration has {len(texts)} questions: at least {FEWEST_QUESTIONS} are needed"
    if certificate.deployment.encoder not in ("", pipeline.encoder.fingerprint):
        return "another encoder is configured than at the calibration"
    order = sorted(texts, key=lambda one: hashlib.sha256(f"{certificate.id}\0{one}".encode()).digest())
    vectors = vectors_of(pipeline, [texts[one] for one in order])
    watched = max(FEWEST, len(order) // 2)
    return CalibrationQuestions(vectors[watched:], distances(vectors[:watched], vectors[watched:]))


def vectors_of(pipeline: Pipeline, questions: Sequence[str]) -> Floats:
    """Return the unit vectors of questions, (N, E)."""
    return np.asarray(pipeline.encoder.encode_queries(questions), dtype=np.float64)


def fill_distances(pipeline: Pipeline, audits: Sequence[StoredAudit], known: CalibrationQuestions) -> dict[int, float]:
    """Return the distances of the audited questions by audit number.

    Missing distances are computed and stored. Questions whose text was deleted have none.
    """
    found = {audit.number: audit.distance for audit in audits if audit.distance is not None}
    store = AuditStore(pipeline.store)
    texts = store.with_texts([a.number for a in audits if a.distance is None and a.kept])
    questions = {number: audit.content.question for number, audit in texts.items() if audit.content}
    if questions:
        computed = distances(vectors_of(pipeline, [*questions.values()]), known.reference)
        fresh = {number: float(value) for number, value in zip(questions, computed, strict=True)}
        store.set_distances(fresh)
        found |= fresh
    return found


def shift_state(certificate: Certificate, known: CalibrationQuestions, found: dict[int, float]) -> ShiftState:
    """Run the watch over the distances in the order of the audits, and return its state."""
    watch = ShiftWatch(known.distances, certificate.delta, seed=int(certificate.id[:8], 16))
    for number in sorted(found):
        watch.add(found[number])
    return ShiftState(len(found), watch.log_capital if found else 0.0, watch.raised_after)


def threshold(delta: float) -> float:
    """Return the log capital at which an alarm is raised. delta: false-alarm rate."""
    return math.log(1.0 / delta)
