"""Readiness of the service: whether model, database and every published collection are available."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic

import anyio.to_thread
from sqlalchemy.exc import OperationalError

from app.errors import USER_ERRORS
from app.pipeline import Pipeline
from app.service.engine.components import Components
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from app.service.observability.logs import LOGGER
from retrieval.collections import CollectionInfo, list_collections

RECHECK_S = 2.0
"""Seconds for which the result of a failed check is reused, since every check of a damaged collection hashes it again.
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why the service cannot answer.

    part: database, encoder, model, server or collection.
    tenant, name: owner of the collection, and the owner's name for it; None for other parts.
    """

    part: str
    reason: str
    tenant: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of a check. model: name of the model, once loaded. collections: the published ones. problems: empty if
    the service is ready.
    """

    model: str | None
    collections: tuple[CollectionInfo, ...]
    problems: tuple[Problem, ...]

    def names(self, caller: Caller | None) -> tuple[str, ...]:
        """Return the names of the published collections that the caller may see. caller: None for a request without a
        key.
        """
        if caller is None:
            return ()
        return tuple(info.shown for info in self.collections if info.tenant == caller.tenant)

    def reasons(self, caller: Caller | None) -> tuple[str, ...]:
        """Return the problems as text. The caller's own are complete; others have no names, paths or details."""
        shown: list[str] = []
        hidden = 0
        for problem in self.problems:
            if problem.part == "server":
                shown.append(problem.reason)
            elif problem.tenant is None:
                known = caller is not None
                shown.append(f"{problem.part}: {problem.reason if known else 'not available'}")
            elif caller is not None and problem.tenant == caller.tenant:
                shown.append(f"collection {problem.name}: {problem.reason}")
            else:
                hidden += 1
        if hidden:
            shown.append(f"{hidden} of {len(self.collections)} collections cannot be opened")
        return tuple(shown)


def not_ready(detail: str = "GET /readyz gives the reasons") -> ApiError:
    """Return a 503 error that can be retried soon."""
    return ApiError(503, f"not ready: {detail}", code="not_ready", retry_after=5)


class Health:
    """The health checks of a service. Create it in the event loop that it serves. recheck_s: seconds for which a failed
    check is reused.
    """

    def __init__(self, pipeline: Pipeline, *, recheck_s: float = RECHECK_S) -> None:
        self.parts = Components(pipeline)
        self._pipeline = pipeline
        self._recheck_s = recheck_s
        self._check_lock = asyncio.Lock()
        self._log = logging.getLogger(LOGGER)
        self.stopping = False
        self._last: Readiness | None = None
        self._checked_at = 0.0

    async def readiness(self) -> Readiness:
        """Check in a worker thread and return the result. A stopping server is never ready."""
        if self.stopping:
            return Readiness(None, (), (Problem("server", "the server is stopping"),))
        async with self._check_lock:
            still_valid = (
                self._last is not None and self._last.problems and monotonic() - self._checked_at < self._recheck_s
            )
            if self._last is None or not still_valid:
                result = await anyio.to_thread.run_sync(self._check)
                self._report(result)
                self._last = result
                self._checked_at = monotonic()
            return self._last

    def _check(self) -> Readiness:
        problems = [Problem(missing.part, self._public(missing.reason)) for missing in self.parts.open()]
        if problems:
            return Readiness(None, (), tuple(problems))
        pipeline = self._pipeline
        published: tuple[CollectionInfo, ...] = ()
        try:
            published = tuple(info for info in list_collections(pipeline.store) if info.generation_hash is not None)
        except (*USER_ERRORS, OSError, OperationalError) as error:
            problems.append(Problem("database", self._public(str(error))))
        for info in published:
            try:
                pipeline.search(info.name)  # saved search settings must be readable too
            except (*USER_ERRORS, OSError, OperationalError) as error:
                problems.append(Problem("collection", self._public(str(error)), info.tenant, info.shown))
        return Readiness(pipeline.generator.name, published, tuple(problems))

    def _report(self, found: Readiness) -> None:
        """Log new problems, since callers without a key get no details."""
        before = self._last.problems if self._last is not None else ()
        for problem in found.problems:
            if problem not in before:
                named = f"{problem.part} {problem.name}" if problem.name else problem.part
                self._log.error("not ready: %s: %s", named, problem.reason)

    def _public(self, reason: str) -> str:
        """Return a message without the path of the home, which clients must not see."""
        return reason.replace(str(self._pipeline.home), "HOME")
