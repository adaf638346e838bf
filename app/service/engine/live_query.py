"""A query in progress, shared by the task that runs it and the response that reads it."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field, replace

from app.answering.answer_parts import Source, sources_of
from app.answers import QueryRequest, QueryResult
from app.policies.certifying import ResolvedPolicy
from app.policies.policy_request import PolicyRequest
from app.service.engine.preparation import PreparedQuery
from app.service.engine.standalone import ConversationTurn
from app.service.http.access import Caller
from generation.completion import TextDelta, ThoughtDelta


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """A query as the engine runs it.

    instructions: instructions of the caller.
    verify: whether its answers are judged.
    deadline_s: time limit for the complete query, in seconds; None for the service's limit.
    history: earlier turns, to which the question may refer.
    original: the request as it was sent, if its question was rewritten.
    reply: a fixed answer (to a greeting); nothing is then retrieved or generated. Empty for all other queries.
    policy: policies to run on the answers before they are returned.
    """

    request: QueryRequest
    caller: Caller
    instructions: str = ""
    verify: bool = False
    deadline_s: float | None = None
    history: tuple[ConversationTurn, ...] = ()
    original: QueryRequest | None = None
    reply: str = ""
    policy: PolicyRequest = field(default_factory=PolicyRequest)

    @property
    def shown(self) -> QueryRequest:
        """The request that results and the store show."""
        return self.original or self.request


class LiveQuery:
    """An asynchronous iterator over the events of a query.

    The events are text and reasoning as they are generated, the result, and the result again after verification. It can
    be iterated once. Unread text is merged, so that the queue of a slow reader stays short.

    arrived: time.perf_counter() when the request arrived.
    queued: seconds spent in the queue.
    """

    def __init__(
        self,
        query: PendingQuery,
        prepared: PreparedQuery,
        model: str,
        arrived: float,
        queued: float,
        settled: ResolvedPolicy | None = None,
    ) -> None:
        """Create a live query. settled: the policies to run; None for none."""
        self.id = uuid.uuid4().hex
        self.settled = settled
        self.query, self.prepared, self.model = query, prepared, model
        self.arrived, self.queued = arrived, queued
        self._events: deque[TextDelta | ThoughtDelta | QueryResult | Exception | None] = deque()
        self._come = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The retrieved sources, known before generation starts."""
        return sources_of(self.prepared.prompt, self.prepared.searched.locations)

    @property
    def buffered(self) -> bool:
        """Whether no text is sent before the policies have ended, because sent text cannot be withdrawn."""
        return self.settled is not None and self.settled.plan.judges and not self.query.reply

    def work(self, coroutine: Coroutine[None, None, None], done: Callable[[], None]) -> None:
        """Run the coroutine for this query until it ends or is cancelled; ``done`` is called in either case."""
        self._task = asyncio.create_task(coroutine)
        self._task.add_done_callback(lambda task: done())

    def emit(self, delta: TextDelta | ThoughtDelta) -> None:
        """Add generated text or reasoning."""
        last = self._events[-1] if self._events else None
        if isinstance(last, TextDelta | ThoughtDelta) and type(last) is type(delta) and last.sample == delta.sample:
            self._events[-1] = replace(delta, text=last.text + delta.text)
        else:
            self._put(delta)

    def answered(self, result: QueryResult) -> None:
        """Add the result. Called again when the answers have verdicts."""
        self._put(result)

    def ended(self) -> None:
        """End the events."""
        self._put(None)

    def failed(self, error: Exception) -> None:
        """End the events with an error."""
        self._put(error)

    async def __aiter__(self) -> AsyncIterator[TextDelta | ThoughtDelta | QueryResult]:
        while True:
            while not self._events:
                self._come.clear()
                await self._come.wait()
            event = self._events.popleft()
            if event is None:
                return
            if isinstance(event, Exception):
                raise event
            yield event

    async def result(self) -> QueryResult:
        """Wait for the result. Raises the error that ended the query."""
        last: QueryResult | None = None
        async for event in self:
            if isinstance(event, QueryResult):
                last = event
        if last is None:
            raise AssertionError("a query ended without a result")
        return last

    def cancel(self) -> None:
        """Stop the query unless it has ended. Its slot and its rows are released immediately."""
        if self._task is not None:
            self._task.cancel()

    def _put(self, event: TextDelta | ThoughtDelta | QueryResult | Exception | None) -> None:
        self._events.append(event)
        self._come.set()
