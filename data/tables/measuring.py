"""Tables of evaluations: runs, their questions, samples, verdicts and human labels."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
)

from data.columns import UtcDateTime, utc_now
from data.tables.shared import OBJECT, OBJECTS, metadata


class _RunColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    name = Column(Text, nullable=False)
    config: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    status = Column(String(32), nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    finished_at: Named[datetime | None] = Column(UtcDateTime)
    tenant = Column(String(64), nullable=False, default="", server_default="", index=True)


runs = Table("runs", metadata, _RunColumns)
"""Evaluation runs.

id: hash of everything that determines the run, including the tenant if there is one, so that the same command finds its
samples again. tenant: the owner, "" for the local user.
"""


class _RunQuestionColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    question_id = Column(Text, primary_key=True)
    position = Column(Integer, nullable=False)
    question: Named[dict[str, Any]] = Column(OBJECT, nullable=False)


run_questions = Table("run_questions", metadata, _RunQuestionColumns)
"""The questions of a run, as they were at its start. position: position in the question file, from 0."""


class _SampleColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    question_id = Column(Text, primary_key=True)
    arm = Column(String(64), primary_key=True)
    decoding = Column(Text, primary_key=True)
    # autoincrement=False, because the run determines these integers.
    sample = Column(Integer, primary_key=True, autoincrement=False)
    seed = Column(BigInteger, nullable=False)
    completion: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    prompt: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    evaluation: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


samples = Table("samples", metadata, _SampleColumns)
"""Completions with their judgements, one in a row.

prompt: the chunks in the prompt (IDs, offsets, ranks, scores). evaluation: outcome and reason.
"""


class _VerdictColumns(TypedColumns):
    run_id = Column(String(64), primary_key=True)
    question_id = Column(Text, primary_key=True)
    arm = Column(String(64), primary_key=True)
    decoding = Column(Text, primary_key=True)
    sample = Column(Integer, primary_key=True, autoincrement=False)
    claim = Column(Integer, primary_key=True, autoincrement=False)
    verifier = Column(Text, primary_key=True)
    label = Column(String(32), nullable=False)
    support: Named[float | None] = Column(Double)
    reason = Column(Text, nullable=False)
    evidence: Named[list[dict[str, Any]]] = Column(OBJECTS, nullable=False)
    claim_text = Column(Text, nullable=False)
    claim_start = Column(Integer, nullable=False)
    claim_end = Column(Integer, nullable=False)


verdicts = Table(
    "verdicts",
    metadata,
    _VerdictColumns,
    ForeignKeyConstraint(
        ["run_id", "question_id", "arm", "decoding", "sample"],
        ["samples.run_id", "samples.question_id", "samples.arm", "samples.decoding", "samples.sample"],
        name="fk_verdicts_sample",
        ondelete="CASCADE",
    ),
)
"""Verdicts of verifiers on the claims of samples. Several verifiers may judge the same claim.

claim: index of the claim, from 0. support: V(c) in [0, 1], NULL if unscored.
"""


class _LabelDrawColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    draw: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


label_draws = Table("label_draws", metadata, _LabelDrawColumns)
"""Responses of a run drawn at random for human labelling, with their sampling probabilities."""


class _LabelColumns(TypedColumns):
    run_id = Column(String(64), primary_key=True)
    question_id = Column(Text, primary_key=True)
    arm = Column(String(64), primary_key=True)
    decoding = Column(Text, primary_key=True)
    sample = Column(Integer, primary_key=True, autoincrement=False)
    annotator = Column(String(64), primary_key=True)
    # Whether this label resolves a disagreement of annotators. It is part of the key, because the person who resolves
    # it may be one of the annotators.
    settles = Column(Boolean, primary_key=True)
    label = Column(String(32), nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


labels = Table(
    "labels",
    metadata,
    _LabelColumns,
    ForeignKeyConstraint(
        ["run_id", "question_id", "arm", "decoding", "sample"],
        ["samples.run_id", "samples.question_id", "samples.arm", "samples.decoding", "samples.sample"],
        name="fk_labels_sample",
        ondelete="CASCADE",
    ),
    CheckConstraint("label IN ('hallucinated', 'supported', 'abstained', 'unscored')", name="label"),
)
"""Labels of responses by people. They are removed if a response is generated again, because it may differ."""
