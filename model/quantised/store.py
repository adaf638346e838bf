"""Store the matrices and vectors of a decoder in two flat arrays, with a table of their offsets, for the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.quantised.groups import GROUP, GroupedMatrix
from model.quantised.kernel import LANES


@dataclass(frozen=True, slots=True)
class WeightStore:
    """The weights of a decoder. codes: codes of all matrices, in tiles. numbers: scales, minima, biases and norms."""

    codes: NDArray[np.uint8]
    numbers: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self.codes.nbytes + self.numbers.nbytes


class StoreBuilder:
    """A builder that collects matrices and vectors, which ``store`` concatenates."""

    def __init__(self) -> None:
        self._codes: list[NDArray[np.uint8]] = []
        self._numbers: list[NDArray[np.float32]] = []
        self._bytes = self._count = 0

    def matrix(self, matrix: GroupedMatrix, bias: Tensor | None = None) -> list[int]:
        """Add a matrix and return its fields in the table, in the order of kernel.py."""
        bits, groups = matrix.bits, matrix.scales.shape[1]
        tiles = -(-matrix.codes.shape[0] // LANES)
        codes = _tiled_codes(matrix, tiles)
        begin, self._bytes = self._bytes, self._bytes + codes.size
        self._codes.append(codes)
        scales = self._add(_tiled(matrix.scales, tiles))
        minima = scales if matrix.minima is None else self._add(_tiled(matrix.minima, tiles))
        padded = None if bias is None else torch.nn.functional.pad(bias.float(), (0, tiles * LANES - len(bias)))
        return [bits, begin, scales, minima, -1 if padded is None else self.vector(padded), tiles, groups]

    def vector(self, vector: Tensor) -> int:
        """Add a vector and return its offset."""
        return self._add(vector.detach().float().contiguous().numpy().ravel())

    def store(self) -> WeightStore:
        """Return the collected weights and clear the builder."""
        codes, numbers = np.concatenate(self._codes), np.concatenate(self._numbers)
        self._codes, self._numbers = [], []
        return WeightStore(codes, numbers)

    def _add(self, numbers: NDArray[np.float32]) -> int:
        begin, self._count = self._count, self._count + numbers.size
        self._numbers.append(numbers)
        return begin


def _padded(rows: Tensor, tiles: int) -> Tensor:
    return torch.nn.functional.pad(rows, (0, 0, 0, tiles * LANES - rows.shape[0]))


def _tiled(numbers: Tensor, tiles: int) -> NDArray[np.float32]:
    """Return numbers (O, G) in tiles (tiles, G, 16), flattened. Padding rows of the last tile are 0."""
    return _padded(numbers, tiles).view(tiles, LANES, -1).transpose(1, 2).contiguous().numpy().ravel()


def _tiled_codes(matrix: GroupedMatrix, tiles: int) -> NDArray[np.uint8]:
    """Return the codes of a matrix in tiles, flattened: (tiles, G, 32, 16) for 8 bits, (tiles, G, 16, 16) for 4 bits.

    With 4 bits a byte holds column j of a group in its low half and column j + 16 in its high half.
    """
    codes = _padded(matrix.codes.view(torch.uint8), tiles)
    grouped = codes.view(tiles, LANES, -1, GROUP).permute(0, 2, 3, 1)  # (tiles, G, 32, 16)
    if matrix.bits == 4:
        grouped = grouped[:, :, : GROUP // 2] | (grouped[:, :, GROUP // 2 :] << 4)
    return grouped.contiguous().numpy().ravel()
