"""An encoder in a separate process, which ends when it is released.

Its library and weights (some 0.8 GB with MiniLM) are then not in memory while a job builds the index.
"""

from __future__ import annotations

import multiprocessing
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from model.hardware.kernel_caches import bound_kernel_caches
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.served import EncoderCall, EncoderProperties, ServedEncoder, answer_call, encoder_properties
from retrieval.encoding.subprocesses import end, leave_quietly, start_without_sigint, work_quietly
from retrieval.errors import RetrievalError


class _Running(NamedTuple):
    process: BaseProcess
    pipe: Connection[Any, Any]


class SubprocessEncoder(ServedEncoder):
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
        self._known: EncoderProperties | None = None
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

    def properties(self) -> EncoderProperties:
        """What is known of the encoder. Raises what ``make`` raises, and RetrievalError if the process ended."""
        if self._known is not None:  # without the lock, which an embedding call holds for seconds
            return self._known
        with self._lock:
            return self._known or self._start()[1]

    def call(self, call: EncoderCall) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises what the encoder raises, and RetrievalError if its process ended."""
        with self._lock:
            running = self._running or self._start()[0]
            try:
                return np.asarray(self._reply(running, call), dtype=np.float32)
            except (RetrievalError, ModelError):
                raise
            except BaseException:  # after an interrupt the pending reply would be taken for the next call's
                self.rest()
                raise

    def _start(self) -> tuple[_Running, EncoderProperties]:
        # spawn: a forked child would inherit the locks of SQLite's threads in an unknown state.
        context = multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        running = self._running = _Running(
            context.Process(target=_serve, args=(theirs, self._make), name="plumbline-encoder", daemon=True), pipe
        )
        try:
            start_without_sigint(running.process)
            theirs.close()
            known: EncoderProperties = self._reply(running, None)
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

    def _reply(self, running: _Running, call: EncoderCall | None) -> Any:
        """Return the reply to a call; None means the start message."""
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
            known = encoder_properties(encoder)
        except Exception as error:
            leave_quietly()  # the receiver ends this process
            pipe.send(_portable(error))
            return
        pipe.send(known)
        while True:
            call: EncoderCall = pipe.recv()
            answer: Any
            try:
                answer = answer_call(encoder, call)
            except Exception as error:  # raised again in the caller
                answer = _portable(error)
            pipe.send(answer)


def _portable(error: Exception) -> Exception:
    """Convert an error for transport: not every library error can be unpickled in the other process."""
    if type(error) in (RetrievalError, ModelError):
        return error
    return RuntimeError("in the process of the encoder:\n" + "".join(traceback.format_exception(error)))
