"""Cutting texts into spans, here or in processes of its own. Knows nothing of where texts come from or go."""

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
from retrieval.encoding.subprocesses import end, start_without_sigint, work_quietly
from retrieval.errors import RetrievalError

Spans = NDArray[np.int64]
"""(n, 2): start and end of each chunk, in characters."""


@dataclass(frozen=True, slots=True)
class TextToChunk:
    """A text to be cut, and where its headings are."""

    text: str
    outline: Outline


class ChunkerPool:
    """Cuts many texts. With workers, in as many processes, which are started by the first call that is worth it.

    The result does not depend on their number. Use it in a with statement; the processes end with it, and by themselves
    when this process is killed (their pipe then ends).
    """

    def __init__(
        self, counter: TokenCounter, params: ChunkingParams, workers: int = 0, worth_characters: int = 100_000
    ) -> None:
        """counter: can be pickled if there are workers. worth_characters: calls with fewer are cut in this process."""
        if workers < 0:
            raise RetrievalError(f"the number of workers must not be negative, not {workers}")
        self._counter = counter
        self._params = params
        self._workers = workers
        self._worth = worth_characters
        self._processes: list[BaseProcess] = []
        self._pipes: list[Connection[Any, Any]] = []
        self._closing = ExitStack()

    def __enter__(self) -> ChunkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.close()  # a worker that waits for work sees the end of its pipe and ends
        for process in self._processes:
            end(process)
        self._pipes, self._processes = [], []

    def cut(self, texts: Sequence[TextToChunk]) -> list[Spans]:
        """The spans of each text, in order. Raises RetrievalError if a worker died (of memory, say)."""
        if not self._workers or sum(len(item.text) for item in texts) < self._worth:
            return [cut_text(item, self._counter, self._params) for item in texts]
        if not self._processes:
            self._start()
        parts = _parts(texts, len(self._pipes))
        # One task at a time for each: with more, both ends of a pipe may wait for the other to read.
        try:
            for pipe, part in zip(self._pipes, parts, strict=False):
                pipe.send(part)
            answers = [pipe.recv() for pipe, _ in zip(self._pipes, parts, strict=False)]
        except (EOFError, OSError) as error:
            codes = ", ".join(str(process.exitcode) for process in self._processes)
            raise RetrievalError(
                f"a process that cuts documents ended by itself (exit codes {codes}; -9 is what a lack of memory looks "
                "like); index again, with fewer workers",
                parameter="workers",
            ) from error
        done: list[Spans] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            done.extend(answer)
        return done

    def _start(self) -> None:
        # spawn: a forked child would inherit the locks of torch's and SQLite's threads in whatever state they are.
        context = multiprocessing.get_context("spawn")
        for _ in range(self._workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, self._counter, self._params), daemon=True)
            start_without_sigint(process)
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)


def cut_text(item: TextToChunk, counter: TokenCounter, params: ChunkingParams) -> Spans:
    """The spans of one text as rows."""
    spans = chunk_spans(item.text, counter, params, item.outline)
    return np.asarray([(span.start, span.end) for span in spans], dtype=np.int64).reshape(-1, 2)


def _parts(texts: Sequence[TextToChunk], count: int) -> list[list[TextToChunk]]:
    """The texts in at most ``count`` stretches of about equal length, none of them empty."""
    room = sum(len(item.text) for item in texts) / count
    parts: list[list[TextToChunk]] = [[]]
    filled = 0
    for item in texts:
        if parts[-1] and filled + len(item.text) / 2 > room * len(parts) and len(parts) < count:
            parts.append([])
        parts[-1].append(item)
        filled += len(item.text)
    return parts


def _serve(pipe: Connection[Any, Any], counter: TokenCounter, params: ChunkingParams) -> None:
    """What a worker does: cut what comes, until the pipe ends."""
    work_quietly()
    while True:
        try:
            texts = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Any
        try:
            answer = [cut_text(item, counter, params) for item in texts]
        except Exception as error:  # raised again by whoever asked
            answer = error
        try:
            pipe.send(answer)
        except OSError:  # the parent was killed meanwhile
            return
