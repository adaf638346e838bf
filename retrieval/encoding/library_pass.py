"""Encode texts with any sentence-transformers model, through the library's own ``encode``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import nullcontext
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoding.text_kinds import Kind


class LibraryPass:
    """An EncodingPass that uses the library. Thread-safe: one call runs at a time."""

    def __init__(self, model: Any, batch_size: int) -> None:
        self._model = model
        self._batch_size = batch_size
        # A fast tokenizer changes its own truncation and padding in each call, so concurrent calls fail with "Already
        # borrowed".
        self._lock = Lock()

    def __call__(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        """Return the (N, E) vectors of N texts. bf16: whether to use autocast."""
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        with self._lock, self._precision(bf16):
            vectors = encode(list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    def _precision(self, bf16: bool) -> Any:
        if not bf16:
            return nullcontext()
        torch = importlib.import_module("torch")
        return torch.autocast(self._model.device.type, dtype=torch.bfloat16)
