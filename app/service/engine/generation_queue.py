"""Asynchronous generation: requests share the engine's batch, and no thread waits for a request.

A generator without streaming runs in a thread, one request at a time. Its text arrives as one event.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor

from app.service.engine.loop_callbacks import LoopCallbacks
from generation.completion import Completion, TextDelta, ThoughtDelta
from generation.generator import GenerationTask, Generator
from generation.live import FinishedRequest, LiveEvent, LiveGenerator, LiveRequest


class Generation:
    """A running request. Iterate over its text and reasoning, then read ``drawn``. Always close it."""

    def __init__(self, callbacks: LoopCallbacks) -> None:
        self._callbacks = callbacks
        self._events: asyncio.Queue[LiveEvent] = asyncio.Queue()
        self._request: LiveRequest | None = None
        self._drawn: FinishedRequest | None = None

    @property
    def drawn(self) -> FinishedRequest:
        """The completions, available after the iteration has ended."""
        if self._drawn is None:
            raise AssertionError("the generation has not ended")
        return self._drawn

    def started(self, request: LiveRequest) -> None:
        """Set the handle that ``close`` cancels."""
        self._request = request

    def on_event(self, event: LiveEvent) -> None:
        """Queue an event of the generator. Call from any thread; see generation.live.Listener."""
        self._callbacks.post(lambda: self._events.put_nowait(event))

    async def __aiter__(self) -> AsyncIterator[TextDelta | ThoughtDelta]:
        while self._drawn is None:
            event = await self._events.get()
            if isinstance(event, Exception):
                raise event
            if isinstance(event, FinishedRequest):
                self._drawn = event
                return
            yield event

    def close(self) -> None:
        """Cancel the request unless it has ended. Returns at once; its rows are freed at the engine's next step."""
        if self._request is not None and self._drawn is None:
            self._request.cancel()


class GenerationQueue:
    """A starter of generations. Create it in the event loop that it serves."""

    def __init__(self) -> None:
        self._callbacks = LoopCallbacks()
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, generator: Generator, task: GenerationTask) -> Generation:
        """Submit the task and return at once. Iterating over the result raises the errors of the generator."""
        generation = Generation(self._callbacks)
        if isinstance(generator, LiveGenerator):
            generation.started(generator.begin(task, generation.on_event))
        else:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(1, thread_name_prefix="generator")
            generation.started(_InThread(self._threads, generator, task, generation))
        return generation

    def close(self) -> None:
        """Stop the threads. Running work cannot be stopped; waiting work is dropped."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


class _InThread:
    """A request of a blocking generator. If it is cancelled before it starts, it does not run; later, its result is
    ignored.
    """

    def __init__(
        self, threads: ThreadPoolExecutor, generator: Generator, task: GenerationTask, generation: Generation
    ) -> None:
        self._future = threads.submit(generator.generate, task.prompt, task.params, task.seeds)
        self._generation = generation
        self._future.add_done_callback(self._ended)

    def cancel(self) -> None:
        """Cancel the request; see generation.live.LiveRequest."""
        self._future.cancel()

    def _ended(self, future: Future[tuple[Completion, ...]]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self._generation.on_event(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            return
        for sample, completion in enumerate(future.result()):
            if completion.thought:
                self._generation.on_event(ThoughtDelta(completion.thought, sample))
            if completion.text:
                self._generation.on_event(TextDelta(completion.text, sample))
        self._generation.on_event(FinishedRequest(future.result()))
