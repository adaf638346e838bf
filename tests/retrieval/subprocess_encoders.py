"""Encoders that another process can open. They are not in a conftest, because it cannot be imported there."""

from __future__ import annotations

import atexit
import hashlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from retrieval.encoding.encoder import unit_vectors
from retrieval.errors import RetrievalError

CAPACITIES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


class Words:
    """A picklable token counter that counts words."""

    def __call__(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


class HashedText:
    """An encoder that draws 16 random numbers from the hash of a text. Some texts trigger an error or a pause."""

    max_tokens = 256
    dimension = 16

    def __init__(self, salt: str = "") -> None:
        self.fingerprint = hashlib.sha256(salt.encode()).hexdigest()
        loaded = "torch" in sys.modules
        self.serves = frozenset(
            (self.fingerprint, f"torch={loaded}", *(f"{n}={os.environ.get(n)}" for n in CAPACITIES))
        )

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for text in texts:
            if text == "refuse":
                raise RetrievalError("no vector for 'refuse'")
            if text == "stumble":
                raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "stumbled")
            if text == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if text.startswith("read "):  # a named pipe, which blocks until it is written to and closed
                Path(text.removeprefix("read ")).read_bytes()
        seeds = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(16) for seed in seeds]
        return unit_vectors(np.asarray(rows, dtype=np.float32).reshape(-1, 16), texts, 16)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return -self.encode_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return Words()(texts)

    def portable_counter(self) -> Words:
        return Words()


class Uncounted(HashedText):
    portable_counter = None  # type: ignore[assignment]


def of_file(path: Path) -> HashedText:
    """Return an encoder whose fingerprint depends on the content of a file."""
    return HashedText(path.read_text())


def missing() -> HashedText:
    raise RetrievalError("there is no encoder folder 'nowhere'")


def deviceless() -> HashedText:
    raise ModelError("--device cuda:7: this machine has 0 CUDA devices")


def broken() -> HashedText:
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "of the weights")


def slow() -> HashedText:
    """Never return, and print a line when the process ends."""
    atexit.register(print, "taken back", flush=True)
    print("loading", os.getpid(), flush=True)
    threading.Event().wait(60)
    return HashedText()
