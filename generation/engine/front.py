"""A thread-safe front end of the engine.

A caller that waits for a result runs the steps itself. A worker thread runs them for streams and begun requests, as
long as there are any. Every step advances all requests, whichever thread runs it. Callers that must not block, not even
for a step, use ``begin``: their requests and cancellations are processed before the next step.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from generation.engine.core import Engine
from generation.engine.requests import EngineRequest, Handle, RequestResult, TokenEvent

Ended = Callable[[RequestResult | Exception], None]
"""Callback that is called once, by the thread that runs the engine. It must return at once and not raise."""


class StartedRequest:
    """A request passed to ``EngineFront.begin``. The engine may not have received it yet (handle None)."""

    def __init__(self, front: EngineFront, request: EngineRequest, ended: Ended) -> None:
        self._front = front
        self.request = request
        self.ended = ended
        self.handle: Handle | None = None
        self.cancelled = False

    def cancel(self) -> None:
        """Cancel the request before the next step, without waiting. Its result is the tokens generated so far."""
        self._front.leave(self)


class EngineFront:
    """A thread-safe front end of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._streams: dict[int, TokenStream] = {}
        self._worker: threading.Thread | None = None
        self._starting = threading.Lock()  # guards _worker; acquired within _lock, never the other way round
        self._begun: dict[int, StartedRequest] = {}
        self._arriving: deque[StartedRequest] = deque()
        self._leaving: deque[StartedRequest] = deque()

    @property
    def rows(self) -> int:
        """Number of samples being decoded (approximate)."""
        return self._engine.rows

    @property
    def free_positions(self) -> int:
        """Number of positions of the engine's memory that no request uses (approximate)."""
        return self._engine.free_positions

    def begin(self, request: EngineRequest, ended: Ended) -> StartedRequest:
        """Submit a request without waiting. ``ended`` receives its result, or its error if it is invalid or fails."""
        begun = StartedRequest(self, request, ended)
        self._arriving.append(begun)
        self._ensure_worker()
        return begun

    def leave(self, begun: StartedRequest) -> None:
        """See StartedRequest.cancel."""
        begun.cancelled = True
        self._leaving.append(begun)

    def run(self, requests: Sequence[EngineRequest]) -> tuple[RequestResult, ...]:
        """Serve the requests and return their results, in order.

        Raises the error of the first request, in order, that failed. An error or an interrupt cancels the others.
        """
        handles: list[Handle] = []
        kept: list[RequestResult] = []
        try:
            with self._lock:
                for request in requests:
                    handles.append(self._engine.submit(request))
            while handles:
                # The lock is released between steps, so that other callers can submit and run steps.
                with self._lock:
                    while handles and self._engine.done(handles[0]):
                        kept.append(self._engine.result(handles.pop(0)))
                    if handles:
                        self._step()
            return tuple(kept)
        finally:
            with self._lock:
                for handle in handles:
                    self._forget(handle)

    def stream(self, request: EngineRequest) -> TokenStream:
        """Submit a request and return its events as they occur.

        Raises GenerationError if the request cannot be served.
        """
        with self._lock:
            handle = self._engine.submit(request)
            stream = TokenStream(self, handle)
            self._streams[handle.number] = stream
            if self._engine.done(handle):  # a request for no samples
                self._close(handle)
            else:
                self._ensure_worker()
        return stream

    def _ensure_worker(self) -> None:
        with self._starting:
            if self._worker is None:
                self._worker = threading.Thread(target=self._serve, name="engine", daemon=True)
                self._worker.start()

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._take_in()
                if not self._streams and not self._begun:
                    with self._starting:
                        # A request that is begun after this check starts another worker.
                        if not self._arriving:
                            self._worker = None
                            return
                    continue
                # _step has given the error to every request; each raises it where its result is awaited.
                with suppress(Exception):
                    self._step()

    def _step(self) -> None:
        """Run one step and send its events to their streams. The caller holds the lock."""
        self._take_in()
        try:
            events = self._engine.step()
        except Exception as error:
            self._engine.abort(error)
            for number in list(self._streams):
                self._close(Handle(number))
            for begun in list(self._begun.values()):
                self._end(begun)
            raise
        for event in events:
            stream = self._streams.get(event.handle.number)
            if stream is not None:
                stream.events.put(event)
        for number in list(self._streams):
            if self._engine.done(Handle(number)):
                self._close(Handle(number))
        for begun in [b for n, b in self._begun.items() if self._engine.done(Handle(n))]:
            self._end(begun)

    def _take_in(self) -> None:
        """Process the requests and cancellations that arrived since the last step."""
        while self._arriving:
            begun = self._arriving.popleft()
            try:
                begun.handle = self._engine.submit(begun.request)
            except Exception as error:  # it cannot be served: report the error to its caller
                begun.ended(error)
                continue
            self._begun[begun.handle.number] = begun
            if begun.cancelled or self._engine.done(begun.handle):
                self._engine.cancel(begun.handle)
                self._end(begun)
        while self._leaving:
            begun = self._leaving.popleft()
            if begun.handle is not None and begun.handle.number in self._begun:
                self._engine.cancel(begun.handle)
                self._end(begun)

    def _end(self, begun: StartedRequest) -> None:
        if begun.handle is None:
            raise AssertionError("a request that the engine has not seen cannot have ended")
        del self._begun[begun.handle.number]
        try:
            result: RequestResult | Exception = self._engine.result(begun.handle)
        except Exception as error:  # of the request, or of the entire engine
            result = error
        begun.ended(result)

    def _close(self, handle: Handle) -> None:
        """Send the result or the error of a finished request to its stream."""
        stream = self._streams.pop(handle.number)
        try:
            stream.events.put(self._engine.result(handle))
        except Exception as error:  # raised again in the reader of the stream
            stream.events.put(error)

    def _forget(self, handle: Handle) -> None:
        """Discard a request whose caller no longer waits."""
        with suppress(Exception):  # it had failed or was already returned
            self._engine.cancel(handle)
            self._engine.result(handle)

    def cancel(self, stream: TokenStream) -> None:
        """Cancel a stream's request. When this returns, its rows are free and its stream has ended."""
        with self._lock:
            if stream.handle.number not in self._streams:
                return
            self._engine.cancel(stream.handle)
            self._close(stream.handle)


class TokenStream:
    """The events of one request as they occur. Iterate once; a caller that stops early must call ``cancel``."""

    def __init__(self, front: EngineFront, handle: Handle) -> None:
        self._front = front
        self.handle = handle
        self.events: queue.SimpleQueue[TokenEvent | RequestResult | Exception] = queue.SimpleQueue()
        self._result: RequestResult | None = None

    def __iter__(self) -> Iterator[TokenEvent]:
        while self._result is None:
            item = self.events.get()
            if isinstance(item, Exception):
                raise item
            if isinstance(item, RequestResult):
                self._result = item
                return
            yield item

    def result(self) -> RequestResult:
        """Wait for the end of the request and return its result. Unread events are skipped.

        Raises the error that ended the request.
        """
        for _ in self:
            pass
        if self._result is None:
            raise AssertionError("a stream ended without a result")
        return self._result

    def cancel(self) -> None:
        """Cancel the request. Its result is the tokens generated so far."""
        self._front.cancel(self)
