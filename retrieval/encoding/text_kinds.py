"""What a text is embedded as: models may set another prompt before a query than before a passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["query", "passage"]


class EncodingPass(Protocol):
    """Texts through a model."""

    def __call__(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        """(N, E) vectors of N texts, one at least; not checked, and not normalised unless the model does that.

        bf16: with products in it, where that was asked for when the pass was made.
        """
