"""Tables that monitor answers in service: audited answers, their labels, and checks of the verifier's anchors."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Integer,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
)

from data.columns import UtcDateTime, utc_now
from data.tables.shared import OBJECT, OBJECTS, metadata


class _AuditColumns(TypedColumns):
    number = Column(Integer, primary_key=True)
    query_id = Column(String(64), nullable=False, unique=True)
    collection_id = Column(Integer, ForeignKey("collections.id", ondelete="CASCADE"), nullable=False, index=True)
    certificate = Column(String(64), nullable=False, index=True)
    policy = Column(Text, nullable=False)
    probability = Column(Double, nullable=False)
    answered = Column(Boolean, nullable=False)
    score: Named[float | None] = Column(Double)
    distance: Named[float | None] = Column(Double)
    content: Named[dict[str, Any] | None] = Column(OBJECT)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now, index=True)


audits = Table("audits", metadata, _AuditColumns, sqlite_autoincrement=True)
"""Answers in service that were drawn for an audit, at most one for each query.

number: position in the order of audits, independent of clocks. certificate: ID of the certificate, "" for none.
probability: probability with which the query was drawn. answered: False if a policy withheld the answer. score: score
of the answer, NULL for none. distance: distance of the question from those of the calibration, NULL until it is
computed. content: question, answer and passages, NULL after they were pruned.
"""


class _AuditLabelColumns(TypedColumns):
    audit = Column(Integer, ForeignKey("audits.number", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    annotator = Column(String(64), primary_key=True)
    settles = Column(Boolean, primary_key=True)
    label = Column(String(32), nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


audit_labels = Table(
    "audit_labels",
    metadata,
    _AuditLabelColumns,
    CheckConstraint("label IN ('hallucinated', 'supported', 'abstained', 'unscored')", name="label"),
)
"""Labels of audited answers by people. settles: whether the label resolves a disagreement of annotators."""


class _AnchorCheckColumns(TypedColumns):
    certificate = Column(String(64), primary_key=True)
    number = Column(Integer, primary_key=True, autoincrement=False)
    verifier = Column(Text, nullable=False)
    anchors: Named[list[dict[str, Any]]] = Column(OBJECTS, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


anchor_checks = Table("anchor_checks", metadata, _AnchorCheckColumns)
"""Judgements of a certificate's anchors.

number: 0 defines the set of anchors and has the scores of the calibration. Later numbers have the scores of the
verifier that was installed at the time.
"""
