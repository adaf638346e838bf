"""The KV cache: keys and values of all layers and positions so far. It is the complete decoding state."""

from __future__ import annotations

import torch
from torch import Tensor

from model.decoder.attention import read, step_mask, within_window
from model.decoder.config import DecoderConfig
from model.errors import ModelError


class KVCache:
    """An AttentionState with preallocated keys and values, (L, B, Hkv, capacity, D) each, for equally long sequences.

    ``length`` positions are filled. A decoding step appends one position and reads all: O(length) work, no copy. Memory
    is 2 L B Hkv capacity D numbers, also for layers with a window.
    """

    def __init__(
        self, config: DecoderConfig, batch: int, capacity: int, *, dtype: torch.dtype, device: torch.device | str
    ) -> None:
        if not 1 <= capacity <= config.max_positions:
            raise ModelError(
                f"a cache of {capacity} positions was requested; this model has between 1 and {config.max_positions}"
            )
        shape = (config.num_layers, batch, config.num_kv_heads, capacity, config.head_dim)
        self.keys = torch.empty(shape, dtype=dtype, device=device)
        self.values = torch.empty(shape, dtype=dtype, device=device)
        self.length = 0
        self._max_positions, self._prefix = config.max_positions, config.prefix
        self._masks: dict[tuple[int, int | None], Tensor | None] = {}

    @property
    def batch(self) -> int:
        """Number of sequences B."""
        return self.keys.shape[1]

    @property
    def capacity(self) -> int:
        """Maximum number of positions."""
        return self.keys.shape[3]

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write the keys and values (B, Hkv, T, D) of new positions. Return views of all: (B, Hkv, length + T, D).

        ``advance`` must be called after all layers have appended. Raises ModelError beyond the capacity.
        """
        end = self.length + keys.shape[2]
        if end > self.capacity:
            raise ModelError(f"the KV cache holds {self.capacity} positions; position {end} was requested")
        self.keys[layer, :, :, self.length : end] = keys
        self.values[layer, :, :, self.length : end] = values
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def positions(self, steps: int) -> Tensor:
        """Return the positions of the next ``steps`` tokens, (1, T). See AttentionState."""
        end = self.length + steps
        if end > self._max_positions:
            raise ModelError(f"{end} tokens do not fit the context of {self._max_positions} positions")
        return torch.arange(self.length, end, device=self.keys.device)[None]

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values and return the attention output. See AttentionState."""
        keys, values = self.append(layer, keys, values)
        steps, total = query.shape[2], keys.shape[2]
        if mask is not None:
            return read(query, keys, values, within_window(mask, total, steps, window, query.device))
        if self._prefix and self.length == 0:
            return read(query, keys, values, None)
        if steps == 1:
            first = 0 if window is None else max(total - window, 0)
            return read(query, keys[:, :, first:], values[:, :, first:], None)
        if self.length == 0 and (window is None or window >= total):
            return read(query, keys, values, None, causal=True)
        return read(query, keys, values, self._mask(steps, window, query.device))

    def _mask(self, steps: int, window: int | None, device: torch.device) -> Tensor | None:
        """Return the causal mask within the window. It is built once for all layers of a forward pass."""
        key = (steps, window)
        if key not in self._masks:
            causal = step_mask(self.length, steps, device)
            self._masks[key] = within_window(causal, self.length + steps, steps, window, device)
        return self._masks[key]

    def advance(self, steps: int) -> None:
        """Mark ``steps`` new positions as filled."""
        self.length += steps
        self._masks.clear()

    def expand(self, batch: int) -> KVCache:
        """Return a copy of a cache with one sequence, repeated for ``batch`` samples that share its prompt.

        Raises ModelError if this cache has several sequences.
        """
        if self.batch != 1:
            raise ModelError(f"only a cache of one sequence can be expanded, this one has {self.batch}")
        out = object.__new__(KVCache)
        shape = (self.keys.shape[0], batch, *self.keys.shape[2:])
        out.keys, out.values = self.keys.new_empty(shape), self.values.new_empty(shape)
        # Only filled positions are copied, because the others are written before they are read.
        out.keys[..., : self.length, :] = self.keys[..., : self.length, :]
        out.values[..., : self.length, :] = self.values[..., : self.length, :]
        out.length = self.length
        out._max_positions, out._prefix, out._masks = self._max_positions, self._prefix, {}
        return out
