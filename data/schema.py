"""The tables: what is kept, and what keeps it consistent. Portable types only (SQLite now, PostgreSQL by URL).

Knows nothing of connections (store.py) nor of the types of other rooms: each room maps its own to rows.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    false,
)

from data.columns import UtcDateTime, utc_now

SCHEMA_VERSION = "4"
"""Raised by one with every change to the tables below, with a revision of that number in data/revisions/versions; the
store compares it with meta.schema_version at start."""

# Every constraint has a predictable name, because a migration can only drop what it can name.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# none_as_null: a Python None is SQL NULL, never the JSON text 'null', so that NOT NULL means what it says.
_OBJECT: JSON[dict[str, Any]] = JSON(none_as_null=True)
_OBJECTS: JSON[list[dict[str, Any]]] = JSON(none_as_null=True)
_WORDS: JSON[list[str]] = JSON(none_as_null=True)


# sqlite_autoincrement: the number of a deleted row is never given again, so that a folder or a cache named after it
# cannot come to belong to another one. (PostgreSQL's sequences do that anyway.)


class _MetaColumns(TypedColumns):
    key = Column(String(64), primary_key=True)
    value = Column(Text, nullable=False)


meta = Table("meta", metadata, _MetaColumns)


class _CollectionColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    name = Column(String(255), nullable=False, unique=True)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    label: Named[str | None] = Column(String(255))
    # collections and generations point at each other, so this one key is added after both tables exist (PostgreSQL) or
    # written into the table (SQLite, which cannot add keys later but checks them late).
    current_generation_id: Named[int | None] = Column(
        Integer,
        ForeignKey("generations.id", ondelete="SET NULL", use_alter=True, name="fk_collections_current_generation_id"),
    )


collections = Table("collections", metadata, _CollectionColumns, sqlite_autoincrement=True)
"""What a person indexes and asks under one name. current_generation_id: the generation that answers, if any. tenant:
whose it is, "" for this machine's own. label: what its tenant calls it, NULL where that is the name; names are unique
among all tenants (they name folders), labels within one."""

Index("uq_collections_tenant_label", collections.c.tenant, collections.c.label, unique=True)


class _DocumentColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    collection_id = Column(Integer, ForeignKey("collections.id", ondelete="CASCADE"), nullable=False)
    document_id = Column(Text, nullable=False)
    sha256 = Column(String(64), nullable=False)
    title = Column(Text, nullable=False)
    text = Column(Text, nullable=False)
    metadata: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    outline: Named[dict[str, Any] | None] = Column(_OBJECT)


documents = Table(
    "documents",
    metadata,
    _DocumentColumns,
    UniqueConstraint("collection_id", "document_id", "sha256"),
    sqlite_autoincrement=True,
)
"""One *version* of a document a row, its text never updated (metadata and outline may be): a published generation keeps
answering from the version it was built from while a later one waits to be indexed. sha256: of title and text
(Document.sha256). outline: where its headings and pages are; NULL where nothing is known of them."""


class _GenerationColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    collection_id = Column(Integer, ForeignKey("collections.id", ondelete="CASCADE"), nullable=False)
    hash = Column(String(64), nullable=False)
    folder = Column(Text, nullable=False)
    status = Column(String(16), nullable=False)
    manifest: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    published_at: Named[datetime | None] = Column(UtcDateTime)


generations = Table(
    "generations",
    metadata,
    _GenerationColumns,
    UniqueConstraint("collection_id", "hash"),
    CheckConstraint("status IN ('building', 'published', 'retired')", name="status"),
    sqlite_autoincrement=True,
)
"""An index of a collection: a folder of files and the manifest they are checked against."""


class _GenerationDocumentColumns(TypedColumns):
    generation_id = Column(Integer, ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True)
    # No cascade: a document version cannot be deleted while a generation still answers from it.
    document_row = Column(Integer, ForeignKey("documents.id"), primary_key=True, index=True)


generation_documents = Table("generation_documents", metadata, _GenerationDocumentColumns)
"""Which document versions a generation holds."""


class _VectorColumns(TypedColumns):
    encoder = Column(Text, primary_key=True)
    text_sha256 = Column(String(64), primary_key=True)
    vector = Column(LargeBinary, nullable=False)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)


vectors = Table("vectors", metadata, _VectorColumns)
"""Embeddings by content: an index job that was killed resumes here, and unchanged text is never embedded again.
encoder: its fingerprint. vector: as the encoder's owner packs it. collection_id: whom it was made for, and who may
remove it once no generation needs it; NULL when that collection is gone."""


class _JobColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    kind = Column(String(64), nullable=False)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)
    status = Column(String(32), nullable=False, index=True)
    progress: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    error: Named[str | None] = Column(Text)
    owner = Column(Text, nullable=False)
    heartbeat_at: Named[datetime | None] = Column(UtcDateTime)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    finished_at: Named[datetime | None] = Column(UtcDateTime)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    request: Named[dict[str, Any] | None] = Column(_OBJECT)
    result: Named[dict[str, Any] | None] = Column(_OBJECT)
    attempts = Column(Integer, nullable=False, default=0, server_default="0")
    lease_until: Named[datetime | None] = Column(UtcDateTime)
    stopping = Column(Boolean, nullable=False, default=False, server_default=false())
    idempotency_key: Named[str | None] = Column(String(255))
    request_sha256: Named[str | None] = Column(String(64))
    run_id: Named[str | None] = Column(String(64), index=True)


jobs = Table("jobs", metadata, _JobColumns)
"""Long work. status: queued, running, succeeded, failed or cancelled. owner: the worker that does it, "" while it
waits; heartbeat_at: when that worker last said it is alive; lease_until: from when another may take the job up.
attempts: how often it was begun. stopping: somebody asked that it be cancelled. request: what is to be done; result:
what came of it. idempotency_key: the client's own name of the request, whose content request_sha256 tells. run_id: of
an evaluation."""

Index("uq_jobs_tenant_idempotency_key", jobs.c.tenant, jobs.c.idempotency_key, unique=True)
Index("ix_jobs_tenant_created_at", jobs.c.tenant, jobs.c.created_at)


class _ApiKeyColumns(TypedColumns):
    id = Column(String(32), primary_key=True)
    name = Column(String(64), nullable=False)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    secret_sha256 = Column(String(64), nullable=False)
    scopes: Named[list[str]] = Column(_WORDS, nullable=False)
    limits: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    expires_at: Named[datetime | None] = Column(UtcDateTime)
    revoked_at: Named[datetime | None] = Column(UtcDateTime)


api_keys = Table("api_keys", metadata, _ApiKeyColumns)
"""Who may use the service, and for what. secret_sha256: of the whole key, which is kept nowhere; it holds 256 random
bits, so that a slow hash would protect nothing more. limits: empty where the service's own hold."""


class _QueryColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)
    question = Column(Text, nullable=False)
    params: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    answer: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now, index=True)


queries = Table("queries", metadata, _QueryColumns)
"""Questions that were asked, and what was answered."""


class _RunColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    name = Column(Text, nullable=False)
    config: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    status = Column(String(32), nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    finished_at: Named[datetime | None] = Column(UtcDateTime)
    tenant = Column(String(64), nullable=False, default="", server_default="", index=True)


runs = Table("runs", metadata, _RunColumns)
"""Evaluations. id: hash of everything that determines the run, so that the same command finds its samples again (of a
tenant's runs that includes the tenant). tenant: whose it is, "" for this machine's own."""


class _RunQuestionColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    question_id = Column(Text, primary_key=True)
    position = Column(Integer, nullable=False)
    question: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)


run_questions = Table("run_questions", metadata, _RunQuestionColumns)
"""The questions of a run, as they were then. position: from 0, the order of the question file."""


class _SampleColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    question_id = Column(Text, primary_key=True)
    arm = Column(String(64), primary_key=True)
    decoding = Column(Text, primary_key=True)
    # autoincrement=False: these integers are given by the run, a database must never make them up.
    sample = Column(Integer, primary_key=True, autoincrement=False)
    seed = Column(BigInteger, nullable=False)
    completion: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    prompt: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    evaluation: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


samples = Table("samples", metadata, _SampleColumns)
"""One completion a row, committed as soon as it is judged. prompt: the chunks shown (ids, offsets, ranks, scores);
evaluation: outcome and reason."""


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
    evidence: Named[list[dict[str, Any]]] = Column(_OBJECTS, nullable=False)
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
"""What one verifier says of one claim of one sample. claim: its index from 0; support: V(c) in [0, 1] or NULL
when unscored. Several verifiers may judge the same claim."""


class _LabelDrawColumns(TypedColumns):
    run_id = Column(String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    draw: Named[dict[str, Any]] = Column(_OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)


label_draws = Table("label_draws", metadata, _LabelDrawColumns)
"""Which responses of a run people are to label: the random draw, with the probabilities it was made with."""


class _LabelColumns(TypedColumns):
    run_id = Column(String(64), primary_key=True)
    question_id = Column(Text, primary_key=True)
    arm = Column(String(64), primary_key=True)
    decoding = Column(Text, primary_key=True)
    sample = Column(Integer, primary_key=True, autoincrement=False)
    annotator = Column(String(64), primary_key=True)
    # Whether this label settles what annotators disagreed on; part of the key: an adjudicator may have annotated too.
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
"""What one person says of one response. A response that is drawn again, and so may say something else, loses its
labels."""

Index("ix_generations_collection_id_status", generations.c.collection_id, generations.c.status)
