"""Interface for the storage of keys and values, and for attention over them.

The decoder computes queries, keys and values and passes them on. The state decides about storage, sharing, paging and
kernels. ``KVCache`` is the plain implementation. The batch engine has others.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class AttentionState(Protocol):
    """State of the sequences that a decoder continues.

    A forward pass calls ``positions`` once, ``attend`` once per layer in order, and ``advance`` once after all layers.
    """

    def positions(self, steps: int) -> Tensor:
        """Return the absolute positions (int64) of the next ``steps`` tokens: (B, T), or (1, T) if all are equal.

        Raises ModelError past the last position of the context.
        """
        ...

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values, then return the attention output softmax(q k^T / sqrt(D)) v: (B, H, T, D).

        query: (B, H, T, D). keys, values: (B, Hkv, T, D); queries and keys are already normed and rotated. window:
        number of last positions that the layer reads, including a token's own; None for all. mask: boolean,
        broadcastable to (B, H, T, S) with S stored and new positions, True where reading is allowed; the window
        restricts it further. None is the default: causal, and bidirectional inside the prompt of a prefix decoder.
        """
        ...

    def advance(self, steps: int) -> None:
        """Advance each sequence by ``steps`` tokens, after every layer has processed them."""
        ...
