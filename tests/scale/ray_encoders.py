"""Encoders that a worker of a cluster opens, which leave a file for each call."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from tests.retrieval.subprocess_encoders import HashedText


class Counted(HashedText):
    """An encoder that writes a file to ``calls`` per call. A text with ``deadly`` kills its worker, once or always."""

    def __init__(self, calls: Path, deadly: str = "", *, always: bool = False) -> None:
        super().__init__()
        self._calls, self._deadly, self._always = calls, deadly, always

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        (self._calls / f"{os.getpid()}-{uuid4().hex}").write_text("\n".join(texts))
        if self._deadly and any(self._deadly in text for text in texts):
            died = self._calls.parent / "died"
            if self._always or not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_passages(texts)
