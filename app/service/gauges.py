"""The numbers that are looked up when Prometheus asks: queue, rows, memory, and the age of every index."""

from __future__ import annotations

from app.errors import USER_ERRORS
from app.service.answering import Answering
from app.service.seeing.metrics import IndexAge, Metrics
from generation.live import EngineGenerator
from retrieval.collections import list_collections


def watch(metrics: Metrics, service: Answering) -> None:
    """Publish them. Once for a Metrics."""
    admission = service.admission
    metrics.gauge("requests_active", "Queries that are worked on", lambda: admission.active)
    metrics.gauge("requests_waiting", "Queries that wait for their turn", lambda: admission.waiting)
    metrics.gauge("engine_rows", "Samples that the engine decodes together", lambda: _load(service)[0])
    metrics.gauge("engine_free_positions", "Tokens for which the engine has memory", lambda: _load(service)[1])
    metrics.watch_indexes(lambda: _ages(service))


def _load(service: Answering) -> tuple[int, int]:
    """Rows and free positions; nothing of a generator that has no engine, or is not open yet."""
    if not service.health.parts.all_open:
        return 0, 0
    generator: object = service.pipeline.generator
    if not isinstance(generator, EngineGenerator):
        return 0, 0
    load = generator.load()
    return load.rows, load.free_positions


def _ages(service: Answering) -> list[IndexAge]:
    try:
        infos = list_collections(service.pipeline.store)
    except (*USER_ERRORS, OSError):  # the database is away: the other numbers are wanted all the more
        return []
    return [IndexAge(info.name, info.published_at) for info in infos if info.published_at is not None]
