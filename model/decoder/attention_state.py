"""AttentionState: who keeps the keys and values of what was read, and reads them for the new tokens.

The decoder computes queries, keys and values and hands them over; what is kept, shared or paged, and which kernel
reads it, is the state's own affair. ``KVCache`` is the plain one; a batch engine brings others.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class AttentionState(Protocol):
    """What a decoder needs of the sequences it goes on with. One forward pass calls ``positions`` once, ``attend`` once
    per layer in order, and ``advance`` once when all layers are done."""

    def positions(self, steps: int) -> Tensor:
        """Absolute positions, int64, of the next ``steps`` tokens of each sequence: (B, T), or (1, T) for all alike.

        They drive rotary and learned positions. Raises ModelError past the last position of the context.
        """
        ...

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Keep the new keys and values (B, Hkv, T, D), already normed and rotated, then read for the new tokens:
        query (B, H, T, D) -> softmax(q k^T / sqrt(D)) v, (B, H, T, D).

        window: of a layer that reads the last ``window`` positions only, each token's own included; None for all.
        mask: boolean, broadcastable to (B, H, T, S) with S kept and new positions, True where reading is allowed (the
        window narrows it further); None for what is right for this state's sequences: causal, and both ways inside the
        prompt of a prefix decoder.
        """
        ...

    def advance(self, steps: int) -> None:
        """Count ``steps`` new tokens of each sequence as read: every layer has had them."""
        ...
