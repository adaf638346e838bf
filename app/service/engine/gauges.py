"""The numbers that are looked up when Prometheus asks: queue, rows, memory, and the age of indexes."""

from __future__ import annotations

from sqlalchemy.exc import OperationalError

from app.errors import USER_ERRORS
from app.service.engine.answering import QueryService
from app.service.observability.metrics import IndexAge, Indexes, Metrics
from generation.live import EngineGenerator
from retrieval.collections import list_collections


def watch(metrics: Metrics, service: QueryService) -> None:
    """Publish them. Once for a Metrics."""
    admission = service.admission
    metrics.gauge("requests_active", "Queries that are worked on", lambda: admission.active)
    metrics.gauge("requests_waiting", "Queries that wait for their turn", lambda: admission.waiting)
    metrics.gauge("engine_rows", "Samples that the engine decodes together", lambda: _load(service)[0])
    metrics.gauge("engine_free_positions", "Tokens for which the engine has memory", lambda: _load(service)[1])


def _load(service: QueryService) -> tuple[int, int]:
    """Rows and free positions; nothing of a generator that has no engine, or is not open yet."""
    if not service.health.parts.all_open:
        return 0, 0
    generator: object = service.pipeline.generator
    if not isinstance(generator, EngineGenerator):
        return 0, 0
    load = generator.load()
    return load.rows, load.free_positions


def index_ages(service: QueryService, tenant: str) -> Indexes:
    """When the tenant's indexes were published, and how many other tenants have."""
    try:
        infos = [info for info in list_collections(service.pipeline.store) if info.published_at is not None]
    except (*USER_ERRORS, OSError, OperationalError):  # the database is away: the other numbers are wanted all the more
        return Indexes()
    own = [IndexAge(i.shown, i.published_at) for i in infos if i.tenant == tenant and i.published_at is not None]
    return Indexes(tuple(own), len(infos) - len(own))
