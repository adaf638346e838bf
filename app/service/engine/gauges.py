"""Metrics that are computed when Prometheus scrapes: queue, engine rows, free positions, index ages, and watches."""

from __future__ import annotations

from sqlalchemy.exc import OperationalError

from app.accounts.tenants import tenant_collections
from app.errors import USER_ERRORS
from app.service.engine.answering import QueryService
from app.service.observability.metrics import IndexAge, Indexes, Metrics
from app.service.observability.watch_metrics import watch_text
from app.watching.status import Watching
from generation.live import EngineGenerator
from retrieval.collections import list_collections


def register_gauges(metrics: Metrics, service: QueryService) -> None:
    """Register the gauges of a service. Call it once per Metrics."""
    admission = service.admission
    metrics.gauge("requests_active", "Active queries", lambda: admission.active)
    metrics.gauge("requests_waiting", "Queries waiting for a slot", lambda: admission.waiting)
    metrics.gauge("engine_rows", "Samples in the engine's current batch", lambda: _load(service)[0])
    metrics.gauge("engine_free_positions", "Free token positions in the engine's cache", lambda: _load(service)[1])


def _load(service: QueryService) -> tuple[int, int]:
    """Return the rows and free positions of the engine; zeros for a generator without an engine or not yet open."""
    if not service.health.parts.all_open:
        return 0, 0
    generator: object = service.pipeline.generator
    if not isinstance(generator, EngineGenerator):
        return 0, 0
    load = generator.load()
    return load.rows, load.free_positions


def index_ages(service: QueryService, tenant: str) -> Indexes:
    """Return publication times of the tenant's indexes, and the number of other tenants' indexes."""
    try:
        infos = [info for info in list_collections(service.pipeline.store) if info.published_at is not None]
    except (*USER_ERRORS, OSError, OperationalError):  # a failed database must not hide the other metrics
        return Indexes()
    own = [IndexAge(i.shown, i.published_at) for i in infos if i.tenant == tenant and i.published_at is not None]
    return Indexes(tuple(own), len(infos) - len(own))


def watch_figures(watched: Watching, service: QueryService, tenant: str) -> bytes:
    """Return the metrics of the tenant's watches; empty if they cannot be read."""
    try:
        return watch_text(watched.status(tenant_collections(service.pipeline.store, tenant)))
    except (*USER_ERRORS, OSError, OperationalError):
        return b""
