"""Audits: answers in service that are drawn with a known probability and labelled by people."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime

from evaluation.errors import EvaluationError

MIN_RATE = 0.0001
_SCALE = 2.0**64


@dataclass(frozen=True, slots=True)
class AuditedPassage:
    """A passage that the generator was given: ``document.text[start:end] == text``."""

    document_id: str
    title: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class AuditContent:
    """The texts of an audit.

    original: question as it was sent, if it was rewritten to be understandable without the conversation, else "".
    model: name of the generator. generation: hash of the index generation that was searched. verifier: verifier that
    gave the answer its score, "" for none.
    """

    question: str
    original: str
    answer: str
    passages: tuple[AuditedPassage, ...]
    model: str
    generation: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Audit:
    """An answer drawn for an audit.

    query_id: ID of the stored query. collection: stored name of the collection. certificate: ID of the certificate
    under which the answer was given, "" for none. policy: names of the policies that ran, joined by commas.
    probability: probability with which the query was drawn. answered: False if a policy withheld the answer; the
    question counts, but there is nothing to label. score: support in [0, 1], None for none.

    Raises EvaluationError for a probability outside (0, 1].
    """

    query_id: str
    collection: str
    certificate: str
    policy: str
    probability: float
    answered: bool
    score: float | None
    content: AuditContent

    def __post_init__(self) -> None:
        if not 0.0 < self.probability <= 1.0:
            raise EvaluationError(f"the drawing probability is {self.probability:g}: it must be above 0 and at most 1")


@dataclass(frozen=True, slots=True)
class StoredAudit:
    """An audit as stored.

    number: position in the order of audits, which does not depend on a clock. distance: distance of its question from
    the questions of the calibration; None until it is computed. kept: whether its texts are still stored. content: the
    texts; None if they were pruned or not requested.
    """

    number: int
    query_id: str
    certificate: str
    policy: str
    probability: float
    answered: bool
    score: float | None
    distance: float | None
    kept: bool
    content: AuditContent | None
    created_at: datetime


def check_audit_rate(rate: float) -> float:
    """Return the rate. Raises EvaluationError unless it is 0 (no audits) or between ``MIN_RATE`` and 1."""
    if math.isfinite(rate) and (rate == 0.0 or MIN_RATE <= rate <= 1.0):
        return rate
    raise EvaluationError(
        f"the audit rate is {rate:g}: give 0 for no audits, or a share between {MIN_RATE:g} and 1, e.g. 0.05"
    )


def is_drawn(query_id: str, rate: float) -> bool:
    """Return whether a query is drawn, which has probability ``rate`` over random query IDs.

    A hash of the ID decides. The draw can therefore be repeated later, and nobody can choose a query by its answer.
    """
    return _uniform("audit", query_id) < rate


def audited_sample(query_id: str, samples: int) -> int:
    """Return the index of the answer that is audited, which is uniform among the samples of a query."""
    return int(_uniform("sample", query_id) * samples)


def _uniform(purpose: str, query_id: str) -> float:
    """Return a number in [0, 1) derived from the SHA-256 hash of the purpose and ID."""
    digest = hashlib.sha256(f"{purpose}\0{query_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11 << 11) / _SCALE
