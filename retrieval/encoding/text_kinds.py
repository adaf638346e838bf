"""Kinds of text to embed. A model may use different prompts for queries and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["query", "passage"]


class EncodingPass(Protocol):
    """A function that embeds texts with a model."""

    def __call__(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        """Return the (N, E) vectors of at least one text, not validated, and normalised only if the model does that.

        bf16: whether to use bf16 products, which must have been requested when the pass was created.
        """
