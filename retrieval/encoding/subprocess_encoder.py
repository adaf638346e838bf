"""An encoder in a separate process, which is ended to release its memory.

An indexing job ends it before it builds the index; with MiniLM, this releases about 0.8 GB.
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
from retrieval.encoding.subprocesses import end, ignore_interrupts, ignore_termination, start_without_sigint
from retrieval.errors import RetrievalError


class _Running(NamedTuple):
    process: BaseProcess
    pipe: Connection[Any, Any]


class SubprocessEncoder(ServedEncoder):
    """An Encoder that runs in a separate process. The vectors are the same as in this process.

    The first call starts the process; ``release`` and ``close`` end it. If this process is killed, the other one ends
    too, because its pipe closes. Thread-safe: one call runs at a time.
    """

    def __init__(self, open_encoder: Callable[[], Encoder]) -> None:
        """open_encoder: picklable function that opens the encoder. The encoder's token counter must be picklable.

        The process is not started yet. The first use raises a RetrievalError or ModelError of ``open_encoder``, and a
        RuntimeError with the traceback for any other exception.
        """
        self._open_encoder = open_encoder
        self._properties: EncoderProperties | None = None
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
        """Whether the process is running."""
        return self._running is not None

    def release(self) -> None:
        """End the process and release its memory. The next call that needs vectors starts a new one."""
        with self._lock:
            running, self._running = self._running, None
            if running is None:
                return
            running.pipe.close()
            end(running.process)

    def close(self) -> None:
        """End the process, as ``release`` does."""
        self.release()

    def properties(self) -> EncoderProperties:
        """Return the encoder's properties.

        Raises what ``open_encoder`` raises, and RetrievalError if the process ended unexpectedly.
        """
        if self._properties is not None:  # without the lock, because an embedding call holds it for seconds
            return self._properties
        with self._lock:
            return self._properties or self._start()[1]

    def call(self, call: EncoderCall) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of the call's texts.

        Raises what the encoder raises, and RetrievalError if its process ended unexpectedly.
        """
        with self._lock:
            running = self._running or self._start()[0]
            try:
                return np.asarray(self._reply(running, call), dtype=np.float32)
            except (RetrievalError, ModelError):
                raise
            except BaseException:  # after an interrupt, the next call would receive the pending reply
                self.release()
                raise

    def _start(self) -> tuple[_Running, EncoderProperties]:
        # Use spawn, because a forked child would inherit the locks of SQLite's threads in an unknown state.
        context = multiprocessing.get_context("spawn")
        pipe, child_pipe = context.Pipe()
        running = self._running = _Running(
            context.Process(
                target=_serve, args=(child_pipe, self._open_encoder), name="plumbline-encoder", daemon=True
            ),
            pipe,
        )
        try:
            start_without_sigint(running.process)
            child_pipe.close()
            properties: EncoderProperties = self._reply(running, None)
            expected = self._properties or properties
            if (properties.fingerprint, properties.dimension) != (expected.fingerprint, expected.dimension):
                raise RetrievalError(
                    f"the encoder has changed (fingerprint {properties.fingerprint[:12]}, at first "
                    f"{expected.fingerprint[:12]}); run the same command again"
                )
        except BaseException:
            self.release()
            raise
        self._properties = properties
        return running, properties

    def _reply(self, running: _Running, call: EncoderCall | None) -> Any:
        """Send a call and return the reply. If the call is None, return the message sent after the start."""
        try:
            if call is not None:
                running.pipe.send(call)
            answer = running.pipe.recv()
        except (EOFError, OSError) as error:
            running.process.join(5)
            code = running.process.exitcode
            self.release()
            raise RetrievalError(
                f"the encoder's process ended unexpectedly (exit code {code}; -9 usually means out of memory); "
                "embedded texts are kept: run the same command again"
            ) from error
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _serve(pipe: Connection[Any, Any], open_encoder: Callable[[], Encoder]) -> None:
    """Open the encoder, send its properties, and answer calls until the pipe closes. Runs in the subprocess."""
    ignore_interrupts()
    bound_kernel_caches()
    with suppress(EOFError, OSError):  # the parent has ended or closed the pipe
        try:
            encoder = open_encoder()
            properties = encoder_properties(encoder)
        except Exception as error:
            ignore_termination()  # the receiver terminates this process
            pipe.send(_picklable(error))
            return
        pipe.send(properties)
        while True:
            call: EncoderCall = pipe.recv()
            answer: Any
            try:
                answer = answer_call(encoder, call)
            except Exception as error:  # raised again in the caller
                answer = _picklable(error)
            pipe.send(answer)


def _picklable(error: Exception) -> Exception:
    """Convert an error for the parent process, which cannot unpickle every error of a library."""
    if type(error) in (RetrievalError, ModelError):
        return error
    return RuntimeError("in the process of the encoder:\n" + "".join(traceback.format_exception(error)))
