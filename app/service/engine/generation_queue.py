"""Generation for the event loop: requests share the engine's batch, and nobody waits in a thread for theirs.

A generator that cannot be listened to works in a thread, one request at a time; its text comes in one piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor

from app.service.engine.loop_callbacks import LoopCallbacks
from generation.completion import Completion, TextDelta
from generation.generator import GenerationTask, Generator
from generation.live import FinishedRequest, LiveGenerator, LiveRequest


class Generation:
    """One request under way: iterate over its text, then look at ``drawn``. Close it whatever happens."""

    def __init__(self, mailbox: LoopCallbacks) -> None:
        self._mailbox = mailbox
        self._events: asyncio.Queue[TextDelta | FinishedRequest | Exception] = asyncio.Queue()
        self._begun: LiveRequest | None = None
        self._drawn: FinishedRequest | None = None

    @property
    def drawn(self) -> FinishedRequest:
        """What came of it, once the iteration has ended."""
        if self._drawn is None:
            raise AssertionError("the generation has not ended")
        return self._drawn

    def started(self, begun: LiveRequest) -> None:
        """begun: what ``close`` cancels."""
        self._begun = begun

    def hear(self, event: TextDelta | FinishedRequest | Exception) -> None:
        """From any thread; see generation.live.Listener."""
        self._mailbox.post(lambda: self._events.put_nowait(event))

    async def __aiter__(self) -> AsyncIterator[TextDelta]:
        while self._drawn is None:
            event = await self._events.get()
            if isinstance(event, Exception):
                raise event
            if isinstance(event, FinishedRequest):
                self._drawn = event
                return
            yield event

    def close(self) -> None:
        """Stop it unless it has ended; its rows are free at the engine's next step. Returns at once."""
        if self._begun is not None and self._drawn is None:
            self._begun.cancel()


class GenerationQueue:
    """Begins generations on one generator. Made inside the event loop that it serves."""

    def __init__(self) -> None:
        self._mailbox = LoopCallbacks()
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, generator: Generator, task: GenerationTask) -> Generation:
        """Take the task in and return at once. What is wrong with it is raised by the iteration."""
        generation = Generation(self._mailbox)
        if isinstance(generator, LiveGenerator):
            generation.started(generator.begin(task, generation.hear))
        else:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(1, thread_name_prefix="generator")
            generation.started(_InThread(self._threads, generator, task, generation))
        return generation

    def close(self) -> None:
        """Let the threads go; what they do cannot be stopped, what waits for them is given up."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


class _InThread:
    """A blocking generator's request. Cancelled, it is not begun, or its end is not waited for."""

    def __init__(
        self, threads: ThreadPoolExecutor, generator: Generator, task: GenerationTask, generation: Generation
    ) -> None:
        self._future = threads.submit(generator.generate, task.prompt, task.params, task.seeds)
        self._generation = generation
        self._future.add_done_callback(self._ended)

    def cancel(self) -> None:
        """See Begun."""
        self._future.cancel()

    def _ended(self, future: Future[tuple[Completion, ...]]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self._generation.hear(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            return
        for sample, completion in enumerate(future.result()):
            if completion.text:
                self._generation.hear(TextDelta(completion.text, sample))
        self._generation.hear(FinishedRequest(future.result()))
