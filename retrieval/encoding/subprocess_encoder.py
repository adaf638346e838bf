"""An encoder in a separate process, which ends when it is released.

Its library and weights (some 0.8 GB with MiniLM) are then not resident beside the index that a job builds.
"""

from __future__ import annotations

import multiprocessing
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from model.hardware.kernel_caches import bound_kernel_caches
from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.adapted import AdaptableEncoder
from retrieval.encoding.encoder import CompatibleQueries, Encoder, PicklableCounting
from retrieval.encoding.subprocesses import end, leave_quietly, start_without_sigint, work_quietly
from retrieval.errors import RetrievalError


@dataclass(frozen=True, slots=True)
class _Properties:
    """Properties of the encoder, kept while no process runs."""

    fingerprint: str
    dimension: int
    max_tokens: int
    serves: frozenset[str]
    ways: tuple[str, ...]
    counter: TokenCounter


class _Call(NamedTuple):
    """A call to the process. way: fingerprint of the passage mode; None for queries."""

    texts: list[str]
    way: str | None


class _Running(NamedTuple):
    process: BaseProcess
    pipe: Connection[Any, Any]


class SubprocessEncoder:
    """The Encoder that ``make`` opens, in another process. Vectors are the same as in this process.

    The first call starts the process; ``rest`` and ``close`` end it. It ends by itself when this process is killed (its
    pipe closes). Thread-safe, one call at a time.
    """

    def __init__(self, make: Callable[[], Encoder]) -> None:
        """make: picklable. Its result need not be, but its token counter must be (PicklableCounting).

        Nothing is started yet. The first use raises RetrievalError and ModelError as ``make`` does, and RuntimeError
        with the traceback for anything else.
        """
        self._make = make
        self._known: _Properties | None = None
        self._running: _Running | None = None
        self._lock = threading.RLock()

    def __enter__(self) -> SubprocessEncoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether the process is running and holds its memory."""
        return self._running is not None

    @property
    def fingerprint(self) -> str:
        """See Encoder. Raises what ``make`` raises, and RetrievalError if the process ended unexpectedly."""
        return self._properties().fingerprint

    @property
    def dimension(self) -> int:
        """E, the length of a vector; raises as ``fingerprint`` does."""
        return self._properties().dimension

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens read from a text; raises as ``fingerprint`` does."""
        return self._properties().max_tokens

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of compatible passage encoders; raises as ``fingerprint`` does."""
        return self._properties().serves

    @property
    def ways(self) -> tuple[str, ...]:
        """Fingerprints of the supported passage modes, preferred one first; raises as ``fingerprint`` does."""
        return self._properties().ways

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises what the encoder raises, and RetrievalError if its process ended."""
        return self.encode_passages_as(texts, self.fingerprint)

    def encode_passages_as(self, texts: Sequence[str], way: str) -> NDArray[np.float32]:
        """Encode passages in the mode ``way``, a fingerprint of ``ways``."""
        return self._encoded(_Call(list(texts), way))

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises what the encoder raises, and RetrievalError if its process ended."""
        return self._encoded(_Call(list(texts), None))

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, counted in this process."""
        return tuple(self._properties().counter(texts))

    def portable_counter(self) -> TokenCounter:
        """A picklable version of ``count_tokens``."""
        return self._properties().counter

    def rest(self) -> None:
        """End the process and release its memory; the next call that needs vectors starts another."""
        with self._lock:
            running, self._running = self._running, None
            if running is None:
                return
            running.pipe.close()
            end(running.process)

    def close(self) -> None:
        """End the process; the same as ``rest``."""
        self.rest()

    def _properties(self) -> _Properties:
        if self._known is not None:  # without the lock, which an embedding call holds for seconds
            return self._known
        with self._lock:
            return self._known or self._start()[1]

    def _encoded(self, call: _Call) -> NDArray[np.float32]:
        with self._lock:
            running = self._running or self._start()[0]
            try:
                return np.asarray(self._reply(running, call), dtype=np.float32)
            except (RetrievalError, ModelError):
                raise
            except BaseException:  # after an interrupt the pending reply would be taken for the next call's
                self.rest()
                raise

    def _start(self) -> tuple[_Running, _Properties]:
        # spawn: a forked child would inherit the locks of SQLite's threads in an unknown state.
        context = multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        running = self._running = _Running(
            context.Process(target=_serve, args=(theirs, self._make), name="plumbline-encoder", daemon=True), pipe
        )
        try:
            start_without_sigint(running.process)
            theirs.close()
            known: _Properties = self._reply(running, None)
            before = self._known or known
            if (known.fingerprint, known.dimension) != (before.fingerprint, before.dimension):
                raise RetrievalError(
                    f"the encoder has changed (fingerprint {known.fingerprint[:12]}, at first "
                    f"{before.fingerprint[:12]}); run the same command again"
                )
        except BaseException:
            self.rest()
            raise
        self._known = known
        return running, known

    def _reply(self, running: _Running, call: _Call | None) -> Any:
        """Return the reply to a call; None stands for the start message."""
        try:
            if call is not None:
                running.pipe.send(call)
            answer = running.pipe.recv()
        except (EOFError, OSError) as error:
            running.process.join(5)
            code = running.process.exitcode
            self.rest()
            raise RetrievalError(
                f"the encoder's process ended unexpectedly (exit code {code}; -9 usually means out of memory); "
                "embedded texts are kept: run the same command again"
            ) from error
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _serve(pipe: Connection[Any, Any], make: Callable[[], Encoder]) -> None:
    """Run the process: open the encoder, send its properties, and answer calls until the pipe closes."""
    work_quietly()
    bound_kernel_caches()
    with suppress(EOFError, OSError):  # the parent has ended or closed the pipe
        try:
            encoder = make()
            known = _known(encoder)
        except Exception as error:
            leave_quietly()  # the receiver ends this process
            pipe.send(_portable(error))
            return
        pipe.send(known)
        while True:
            call: _Call = pipe.recv()
            answer: Any
            try:
                answer = _encoded(encoder, call)
            except Exception as error:  # raised again in the caller
                answer = _portable(error)
            pipe.send(answer)


def _encoded(encoder: Encoder, call: _Call) -> NDArray[np.float32]:
    if call.way is None:
        return encoder.encode_queries(call.texts)
    if isinstance(encoder, AdaptableEncoder):
        return encoder.encode_passages_as(call.texts, call.way)
    return encoder.encode_passages(call.texts)


def _known(encoder: Encoder) -> _Properties:
    if not isinstance(encoder, PicklableCounting):
        raise RetrievalError("this encoder's counting cannot be sent to another process, so it cannot work in one")
    serves = encoder.serves if isinstance(encoder, CompatibleQueries) else frozenset((encoder.fingerprint,))
    counter = encoder.portable_counter()
    return _Properties(
        encoder.fingerprint, encoder.dimension, encoder.max_tokens, serves, _fingerprints(encoder), counter
    )


def _fingerprints(encoder: Encoder) -> tuple[str, ...]:
    return encoder.ways if isinstance(encoder, AdaptableEncoder) else (encoder.fingerprint,)


def _portable(error: Exception) -> Exception:
    """Convert an error for transport: not every library error can be unpickled in the other process."""
    if type(error) in (RetrievalError, ModelError):
        return error
    return RuntimeError("in the process of the encoder:\n" + "".join(traceback.format_exception(error)))
