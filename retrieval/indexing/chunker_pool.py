"""Split texts into spans, in this process or in worker processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.outline import Outline
from retrieval.chunking.chunker import ChunkingParams, TokenCounter, chunk_spans
from retrieval.encoding.subprocesses import end, ignore_interrupts, start_without_sigint
from retrieval.errors import RetrievalError

Spans = NDArray[np.int64]
"""(n, 2) start and end of each chunk, in characters."""


@dataclass(frozen=True, slots=True)
class TextToChunk:
    """A text to split, and its headings."""

    text: str
    outline: Outline


class ChunkerPool:
    """A pool of worker processes that split texts into chunks. They start with the first call that is large enough.

    The result does not depend on their number. Use it as a context manager. The workers end with it, or when this
    process is killed, because their pipes close.
    """

    def __init__(
        self, counter: TokenCounter, params: ChunkingParams, workers: int = 0, min_characters: int = 100_000
    ) -> None:
        """counter: token counter, which must be picklable if there are workers. workers: number of processes.

        min_characters: number of characters below which a call runs in this process.
        """
        if workers < 0:
            raise RetrievalError(f"the number of workers must not be negative, not {workers}")
        self._counter = counter
        self._params = params
        self._workers = workers
        self._min_characters = min_characters
        self._processes: list[BaseProcess] = []
        self._pipes: list[Connection[Any, Any]] = []
        self._closing = ExitStack()

    def __enter__(self) -> ChunkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.close()  # a waiting worker ends when its pipe closes
        for process in self._processes:
            end(process)
        self._pipes, self._processes = [], []

    def chunk(self, texts: Sequence[TextToChunk]) -> list[Spans]:
        """Return the spans of each text, in order.

        Raises RetrievalError if a worker died, for example for lack of memory.
        """
        if not self._workers or sum(len(item.text) for item in texts) < self._min_characters:
            return [chunk_text(item, self._counter, self._params) for item in texts]
        if not self._processes:
            self._start()
        parts = _even_parts(texts, len(self._pipes))
        # Each worker gets one task at a time. With more, both ends of a pipe could wait for the other to read.
        try:
            for pipe, part in zip(self._pipes, parts, strict=False):
                pipe.send(part)
            answers = [pipe.recv() for pipe, _ in zip(self._pipes, parts, strict=False)]
        except (EOFError, OSError) as error:
            codes = ", ".join(str(process.exitcode) for process in self._processes)
            raise RetrievalError(
                f"a chunking process ended unexpectedly (exit codes {codes}; -9 usually means out of memory); "
                "index again, with fewer workers",
                parameter="workers",
            ) from error
        done: list[Spans] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            done.extend(answer)
        return done

    def _start(self) -> None:
        # Use spawn, because a forked child would inherit the locks of torch's and SQLite's threads in an unknown state.
        context = multiprocessing.get_context("spawn")
        for _ in range(self._workers):
            pipe, child_pipe = context.Pipe()
            process = context.Process(target=_serve, args=(child_pipe, self._counter, self._params), daemon=True)
            start_without_sigint(process)
            child_pipe.close()
            self._pipes.append(pipe)
            self._processes.append(process)


def chunk_text(item: TextToChunk, counter: TokenCounter, params: ChunkingParams) -> Spans:
    """Return the spans of one text."""
    spans = chunk_spans(item.text, counter, params, item.outline)
    return np.asarray([(span.start, span.end) for span in spans], dtype=np.int64).reshape(-1, 2)


def _even_parts(texts: Sequence[TextToChunk], count: int) -> list[list[TextToChunk]]:
    """Split the texts into at most ``count`` non-empty runs of about equal length."""
    mean_length = sum(len(item.text) for item in texts) / count
    parts: list[list[TextToChunk]] = [[]]
    length = 0
    for item in texts:
        if parts[-1] and length + len(item.text) / 2 > mean_length * len(parts) and len(parts) < count:
            parts.append([])
        parts[-1].append(item)
        length += len(item.text)
    return parts


def _serve(pipe: Connection[Any, Any], counter: TokenCounter, params: ChunkingParams) -> None:
    """Split incoming texts until the pipe closes. Runs in a worker process."""
    ignore_interrupts()
    while True:
        try:
            texts = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Any
        try:
            answer = [chunk_text(item, counter, params) for item in texts]
        except Exception as error:  # raised again in the caller
            answer = error
        try:
            pipe.send(answer)
        except OSError:  # the parent has been killed
            return
