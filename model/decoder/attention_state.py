"""AttentionState: the interface for storage of keys and values, and for attention over them.

The decoder computes queries, keys and values and passes them on. The state decides about storage, sharing, paging and
kernels. ``KVCache`` is the plain implementation; a batch engine has others.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class AttentionState(Protocol):
    """What a decoder needs of the sequences it continues.

    One forward pass calls ``positions`` once, ``attend`` once per layer in order, and ``advance`` once after all
    layers.
    """

    def positions(self, steps: int) -> Tensor:
        """Absolute positions, int64, of the next ``steps`` tokens of each sequence: (B, T), or (1, T) if all are equal.

        They drive rotary and learned positions. Raises ModelError past the last position of the context.
        """
        ...

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values (B, Hkv, T, D), already normed and rotated, then attend for the new tokens.

        query (B, H, T, D) -> softmax(q k^T / sqrt(D)) v, (B, H, T, D). window: of a layer that reads the last
        ``window`` positions only, each token's own included; None for all. mask: boolean, broadcastable to (B, H, T, S)
        with S stored and new positions, True where reading is allowed (the window restricts it further); None for the
        default of this state's sequences: causal, and bidirectional inside the prompt of a prefix decoder.
        """
        ...

    def advance(self, steps: int) -> None:
        """Count ``steps`` new tokens of each sequence as read, after every layer has processed them."""
        ...
