"""The arena: keys and values of all sequences of an engine, in one allocation with a fixed budget."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from model.decoder.config import DecoderConfig
from model.engine_state.ranges import KeyRange
from model.errors import ModelError


def bytes_per_position(config: DecoderConfig, dtype: torch.dtype) -> int:
    """Return the bytes of one position: 2 L Hkv D numbers (keys and values)."""
    return 2 * config.num_layers * config.num_kv_heads * config.head_dim * dtype.itemsize


class KeyValueArena:
    """Storage of keys and values (L, S, Hkv, D) for S = budget // position_bytes positions.

    budget: bytes. extra_bytes: bytes per position that the owner stores elsewhere; they count against the budget. The
    heads of a position are contiguous, so that a token is stored by one copy and a range of positions is read in place
    as (Hkv, length, D). The operating system provides the memory when a position is first written. Raises ModelError
    if the budget is too small or cannot be allocated.
    """

    def __init__(
        self,
        config: DecoderConfig,
        budget: int,
        *,
        dtype: torch.dtype,
        device: torch.device | str = "cpu",
        extra_bytes: int = 0,
    ) -> None:
        position_bytes = bytes_per_position(config, dtype) + extra_bytes
        self.total = budget // position_bytes
        if self.total < 1:
            raise ModelError(
                f"a budget of {budget} bytes is too small: one position takes {position_bytes} bytes; use more memory"
            )
        shape = (config.num_layers, self.total, config.num_kv_heads, config.head_dim)
        try:
            self.keys = torch.empty(shape, dtype=dtype, device=device)
            self.values = torch.empty(shape, dtype=dtype, device=device)
        except RuntimeError as error:  # torch.OutOfMemoryError is one
            raise ModelError(
                f"{budget} bytes for keys and values could not be allocated on {device}: use less memory"
            ) from error
        self.position_bytes = position_bytes
        self._layer_keys, self._layer_values = self.keys.unbind(0), self.values.unbind(0)
        self._row = config.num_kv_heads * config.head_dim

    def store(self, layer: int, positions: Tensor, keys: Tensor, values: Tensor) -> None:
        """Write keys, values (N, Hkv, D) to the arena's positions (N)."""
        self._layer_keys[layer].index_copy_(0, positions, keys)
        self._layer_values[layer].index_copy_(0, positions, values)

    def store_range(self, layer: int, start: int, keys: Tensor, values: Tensor) -> None:
        """Write keys, values (T, Hkv, D) to consecutive positions starting at ``start``."""
        end = start + keys.shape[0]
        self._layer_keys[layer][start:end] = keys
        self._layer_values[layer][start:end] = values

    def view(self, layer: int, start: int, rows: int, stride: int, length: int) -> tuple[Tensor, Tensor]:
        """Return views of keys and values (rows, Hkv, length, D). Row r starts at position start + r * stride."""
        keys, values = self._layer_keys[layer], self._layer_values[layer]
        heads, dim = keys.shape[1:]
        size, strides = (rows, heads, length, dim), (stride * self._row, dim, self._row, 1)
        offset = start * self._row
        # as_strided counts from the start of the storage, so the layer's own offset is added.
        return (
            keys.as_strided(size, strides, keys.storage_offset() + offset),
            values.as_strided(size, strides, values.storage_offset() + offset),
        )

    def numbers(self, layer: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return keys and values (S, Hkv, D) as numpy views: fp32, or the bits of bf16 as uint16. CPU only."""
        bits = torch.uint16 if self.keys.dtype == torch.bfloat16 else self.keys.dtype
        return self._layer_keys[layer].view(bits).numpy(), self._layer_values[layer].view(bits).numpy()

    def all_numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what ``numbers`` does for all layers: (L, S, Hkv, D)."""
        bits = torch.uint16 if self.keys.dtype == torch.bfloat16 else self.keys.dtype
        return self.keys.view(bits).numpy(), self.values.view(bits).numpy()

    def gather(self, layer: int, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return copies of the keys and values at positions (R, C): (R, Hkv, C, D) each."""
        rows, columns = positions.shape
        flat = positions.flatten()
        keys, values = self._layer_keys[layer], self._layer_values[layer]
        shape = (rows, columns, *keys.shape[1:])
        return (
            keys.index_select(0, flat).view(shape).transpose(1, 2),
            values.index_select(0, flat).view(shape).transpose(1, 2),
        )

    def copy(self, source: KeyRange, target: int) -> None:
        """Copy a range, in all layers, to position ``target`` and after. The two ranges must not overlap."""
        end = target + source.length
        self.keys[:, target:end] = self.keys[:, source.start : source.end]
        self.values[:, target:end] = self.values[:, source.start : source.end]
