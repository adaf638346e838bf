"""An encoder that distributes its calls to the workers of an executor and runs several calls at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data.block_work import BlockExecutor, BlockWorkers, in_order
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.served import EncoderCall, EncoderProperties, ServedEncoder, answer_call, encoder_properties
from retrieval.errors import RetrievalError


class _Encoded(NamedTuple):
    """A worker's answer to a call. fingerprint: fingerprint of the encoder that the worker opened."""

    vectors: NDArray[np.float32]
    fingerprint: str


class _EncoderWorker:
    """The function that runs in a worker. It opens the encoder and answers calls; None requests its properties."""

    def __init__(self, open_encoder: Callable[[], Encoder]) -> None:
        self._encoder = open_encoder()

    def __call__(self, call: EncoderCall | None) -> EncoderProperties | _Encoded:
        if call is None:
            return encoder_properties(self._encoder)
        return _Encoded(answer_call(self._encoder, call), self._encoder.fingerprint)


class DistributedEncoder(ServedEncoder):
    """An Encoder that runs in the workers of an executor. The vectors are the same as in this process.

    The first use starts the workers, and ``release`` ends them. Thread-safe.
    """

    def __init__(self, executor: BlockExecutor, open_encoder: Callable[[], Encoder]) -> None:
        """open_encoder: picklable function that opens the encoder in a worker.

        The encoder's token counter must be picklable. The first use raises what ``open_encoder`` raises in a worker.
        All uses raise WorkerError if a worker fails, and RetrievalError if two workers open encoders with different
        fingerprints.
        """
        self._executor, self._open_encoder = executor, open_encoder
        self._properties: EncoderProperties | None = None
        self._workers: BlockWorkers[EncoderCall | None, EncoderProperties | _Encoded] | None = None
        self._lock = threading.Lock()

    def properties(self) -> EncoderProperties:
        """Return the encoder's properties, which a worker reports on the first call."""
        if self._properties is None:
            found = self._started().submit(None).result()
            if not isinstance(found, EncoderProperties):
                raise TypeError(f"a worker returned {type(found).__name__}, not the encoder's properties")
            self._properties = found
        return self._properties

    def call(self, call: EncoderCall) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of the call's texts, computed by one worker."""
        return next(self._calls((call,)))

    def encode_calls_as(self, calls: Iterable[Sequence[str]], mode: str) -> Iterator[NDArray[np.float32]]:
        """Yield the (N, E) vectors of each call's passages; see ``ConcurrentEncoder``."""
        return self._calls(EncoderCall(list(texts), mode) for texts in calls)

    def release(self) -> None:
        """End the workers and release their memory. The next call starts new workers."""
        with self._lock:
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    def _started(self) -> BlockWorkers[EncoderCall | None, EncoderProperties | _Encoded]:
        with self._lock:
            if self._workers is None:
                self._workers = self._executor.workers(partial(_EncoderWorker, self._open_encoder))
            return self._workers

    def _calls(self, calls: Iterable[EncoderCall]) -> Iterator[NDArray[np.float32]]:
        properties = self.properties()
        for found in in_order(self._started(), calls):
            if not isinstance(found, _Encoded):
                raise TypeError(f"a worker returned {type(found).__name__}, not vectors")
            if found.fingerprint != properties.fingerprint:
                raise RetrievalError(
                    f"a worker's encoder has the fingerprint {found.fingerprint[:12]}, another's "
                    f"{properties.fingerprint[:12]}: all workers need the same model files"
                )
            yield np.asarray(found.vectors, dtype=np.float32)
