"""Tables of the service: jobs, API keys, rate limits and queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Named, String, Table, Text, TypedColumns, false

from data.columns import UtcDateTime, utc_now
from data.tables.shared import OBJECT, WORDS, metadata


class _JobColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    kind = Column(String(64), nullable=False)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)
    status = Column(String(32), nullable=False, index=True)
    progress: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    error: Named[str | None] = Column(Text)
    owner = Column(Text, nullable=False)
    heartbeat_at: Named[datetime | None] = Column(UtcDateTime)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    finished_at: Named[datetime | None] = Column(UtcDateTime)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    request: Named[dict[str, Any] | None] = Column(OBJECT)
    result: Named[dict[str, Any] | None] = Column(OBJECT)
    attempts = Column(Integer, nullable=False, default=0, server_default="0")
    lease_until: Named[datetime | None] = Column(UtcDateTime)
    stopping = Column(Boolean, nullable=False, default=False, server_default=false())
    idempotency_key: Named[str | None] = Column(String(255))
    request_sha256: Named[str | None] = Column(String(64))
    run_id: Named[str | None] = Column(String(64), index=True)


jobs = Table("jobs", metadata, _JobColumns)
"""Background jobs.

status: queued, running, succeeded, failed or cancelled. owner: the worker that runs the job, "" while it is queued.
heartbeat_at: time of the worker's last heartbeat. lease_until: time from which another worker may take over. attempts:
number of starts. stopping: whether cancellation was requested. request: input of the job. result: output of the job.
idempotency_key: key that the client gave to the request. request_sha256: SHA-256 of the request with that key. run_id:
ID of the run of an evaluation.
"""

Index("uq_jobs_tenant_idempotency_key", jobs.c.tenant, jobs.c.idempotency_key, unique=True)
Index("ix_jobs_tenant_created_at", jobs.c.tenant, jobs.c.created_at)


class _ApiKeyColumns(TypedColumns):
    id = Column(String(32), primary_key=True)
    name = Column(String(64), nullable=False)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    secret_sha256 = Column(String(64), nullable=False)
    scopes: Named[list[str]] = Column(WORDS, nullable=False)
    limits: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    expires_at: Named[datetime | None] = Column(UtcDateTime)
    revoked_at: Named[datetime | None] = Column(UtcDateTime)


api_keys = Table("api_keys", metadata, _ApiKeyColumns)
"""API keys and their rights.

secret_sha256: SHA-256 of the entire key, which is not stored. A key has 256 random bits, so a slow hash would add no
protection. limits: rate limits of the key, empty for the service's defaults.
"""


class _RateBucketColumns(TypedColumns):
    name = Column(Text, primary_key=True)
    full_at = Column(UtcDateTime, nullable=False, index=True)


rate_buckets = Table("rate_buckets", metadata, _RateBucketColumns)
"""Rate limits that several processes share.

name: name of the limit and of the key. full_at: time at which the full quota of a minute is available again.
"""


class _QueryColumns(TypedColumns):
    id = Column(String(64), primary_key=True)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)
    question = Column(Text, nullable=False)
    params: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    answer: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now, index=True)


queries = Table("queries", metadata, _QueryColumns)
"""Questions to the service and their answers."""
