"""The KV cache: keys and values of all layers and positions so far, the complete decoding state."""

from __future__ import annotations

import torch
from torch import Tensor

from model.decoder.attention import narrowed, read, step_mask
from model.decoder.config import DecoderConfig
from model.errors import ModelError


class KVCache:
    """Preallocated keys and values, (L, B, Hkv, capacity, D) each; ``length`` positions are filled.

    An AttentionState whose sequences are equally long. One decoding step appends one position and reads all: O(length)
    work and no copy. Memory is 2 L B Hkv capacity D numbers, also for layers with a window.
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
        """Write keys, values (B, Hkv, T, D) of new positions; return views of all positions (B, Hkv, length + T, D).

        ``advance`` must be called after all layers have appended.
        """
        end = self.length + keys.shape[2]
        if end > self.capacity:
            raise ModelError(f"the KV cache has room for {self.capacity} positions; position {end} was requested")
        self.keys[layer, :, :, self.length : end] = keys
        self.values[layer, :, :, self.length : end] = values
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def positions(self, steps: int) -> Tensor:
        """See AttentionState: (1, T)."""
        end = self.length + steps
        if end > self._max_positions:
            raise ModelError(f"{end} tokens do not fit the context of {self._max_positions} positions")
        return torch.arange(self.length, end, device=self.keys.device)[None]

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """See AttentionState."""
        keys, values = self.append(layer, keys, values)
        steps, total = query.shape[2], keys.shape[2]
        if mask is not None:
            return read(query, keys, values, narrowed(mask, total, steps, window, query.device))
        if self._prefix and self.length == 0:
            return read(query, keys, values, None)
        if steps == 1:
            first = 0 if window is None else max(total - window, 0)
            return read(query, keys[:, :, first:], values[:, :, first:], None)
        if self.length == 0 and (window is None or window >= total):
            return read(query, keys, values, None, causal=True)
        return read(query, keys, values, self._mask(steps, window, query.device))

    def _mask(self, steps: int, window: int | None, device: torch.device) -> Tensor | None:
        """Causal and within the window; built once for all layers of a forward pass."""
        key = (steps, window)
        if key not in self._masks:
            causal = step_mask(self.length, steps, device)
            self._masks[key] = narrowed(causal, self.length + steps, steps, window, device)
        return self._masks[key]

    def advance(self, steps: int) -> None:
        """Count ``steps`` new positions as filled."""
        self.length += steps
        self._masks.clear()

    def expand(self, batch: int) -> KVCache:
        """Expand a single sequence (B = 1) to ``batch`` samples: one prefill serves them all."""
        if self.batch != 1:
            raise ModelError(f"only a cache of one sequence can be expanded, this one has {self.batch}")
        out = object.__new__(KVCache)
        shape = (self.keys.shape[0], batch, *self.keys.shape[2:])
        out.keys, out.values = self.keys.new_empty(shape), self.values.new_empty(shape)
        # Only the filled positions are copied: the rest is written before it is read.
        out.keys[..., : self.length, :] = self.keys[..., : self.length, :]
        out.values[..., : self.length, :] = self.values[..., : self.length, :]
        out.length = self.length
        out._max_positions, out._prefix, out._masks = self._max_positions, self._prefix, {}
        return out
