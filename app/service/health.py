"""Whether the service can answer, and if not, why: model, database, and every published collection."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic

import anyio.to_thread

from app.errors import USER_ERRORS
from app.pipeline import Pipeline
from app.service.errors import ApiError
from app.service.parts import Parts
from retrieval.collections import list_collections

RECHECK_S = 2.0
"""A damaged collection is hashed again with every look: probes that come faster share one look."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """model: its name, when it is loaded. collections: the published ones. reasons: empty when all is well."""

    model: str | None
    collections: tuple[str, ...]
    reasons: tuple[str, ...]


def not_ready(detail: str = "GET /readyz gives the reasons") -> ApiError:
    """503, to be tried again soon."""
    return ApiError(503, f"not ready: {detail}", code="not_ready", retry_after=5)


class Health:
    """Looks when asked. Made inside the event loop that it serves. recheck_s: how long a look that failed holds."""

    def __init__(self, pipeline: Pipeline, *, recheck_s: float = RECHECK_S) -> None:
        self.parts = Parts(pipeline)
        self._pipeline = pipeline
        self._recheck_s = recheck_s
        self._looking = asyncio.Lock()
        self.stopping = False
        self._last: Readiness | None = None
        self._looked_at = 0.0

    async def readiness(self) -> Readiness:
        """Look now, in a worker thread. A server that stops is not ready, whatever else it is."""
        if self.stopping:
            return Readiness(None, (), ("the server is stopping",))
        async with self._looking:
            held = self._last is not None and self._last.reasons and monotonic() - self._looked_at < self._recheck_s
            if self._last is None or not held:
                self._last = await anyio.to_thread.run_sync(self._look)
                self._looked_at = monotonic()
            return self._last

    def _look(self) -> Readiness:
        reasons = [f"{missing.part}: {missing.reason}" for missing in self.parts.open()]
        if reasons:
            return Readiness(None, (), self._public(reasons))
        line = self._pipeline
        names: list[str] = []
        try:
            names = [info.name for info in list_collections(line.store) if info.generation_hash is not None]
        except (*USER_ERRORS, OSError) as error:
            reasons.append(f"database: {error}")
        for name in names:
            try:
                line.search(name)  # what tune saved must be readable too
            except (*USER_ERRORS, OSError) as error:
                reasons.append(f"collection {name}: {error}")
        return Readiness(line.generator.name, tuple(names), self._public(reasons))

    def _public(self, reasons: list[str]) -> tuple[str, ...]:
        """Where the home lies is this machine's business."""
        return tuple(reason.replace(str(self._pipeline.home), "HOME") for reason in reasons)
