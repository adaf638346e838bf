"""Kinds of text to embed: models may use a different prompt for queries and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["query", "passage"]


class EncodingPass(Protocol):
    """Callable that runs texts through a model."""

    def __call__(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        """Return the (N, E) vectors of N >= 1 texts; not validated, and normalised only if the model does that.

        bf16: use bf16 products, if they were requested when the pass was created.
        """
