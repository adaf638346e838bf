"""Weights in groups: each row of a matrix is split into groups of 32 columns with their own scale.

4 bits: w = s q + m with q in 0 .. 15 (Q4_1 of ggml; Q4_0 has m = -8 s). 8 bits: w = s q with q in -127 .. 127 (Q8_0).
Scales and minima are kept in fp32, so that the blocks of a file are represented exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import ModelError

GROUP = 32
"""Number of columns that share a scale."""


@dataclass(frozen=True, slots=True)
class GroupedMatrix:
    """A quantised matrix (O, I).

    codes: (O, I), uint8 for 4 bits, int8 for 8 bits. scales: (O, I / 32) in fp32. minima: the same; None for 8 bits.
    """

    codes: Tensor
    scales: Tensor
    minima: Tensor | None

    @property
    def bits(self) -> int:
        """Bits of a code: 4 or 8."""
        return 8 if self.minima is None else 4

    def dequantised(self) -> Tensor:
        """Return the matrix in fp32: (O, I)."""
        rows, columns = self.codes.shape
        numbers = self.codes.float().view(rows, -1, GROUP) * self.scales[..., None]
        if self.minima is not None:
            numbers += self.minima[..., None]
        return numbers.view(rows, columns)


def stacked(parts: Sequence[GroupedMatrix]) -> GroupedMatrix:
    """Return the rows of several matrices as one. Raises ValueError if their numbers of bits differ."""
    minima = [part.minima for part in parts if part.minima is not None]
    if len(minima) not in (0, len(parts)):
        raise ValueError("matrices of 4 and of 8 bits cannot be stacked")
    return GroupedMatrix(
        torch.cat([part.codes for part in parts]),
        torch.cat([part.scales for part in parts]),
        torch.cat(minima) if minima else None,
    )


def rounded(weight: Tensor, bits: int, name: str) -> GroupedMatrix:
    """Quantise a weight (O, I) to groups of 4 or 8 bits, with round-to-nearest.

    With 4 bits the codes range from the minimum to the maximum of a group, with 8 bits they are symmetric about 0 (as
    in ggml's Q4_1 and Q8_0, with fp32 scales). name: the weight's name, for messages. Raises ModelError if I is not a
    multiple of 32 or a number is not finite.
    """
    check_columns(weight, name)
    wide = weight.detach().float()
    if not bool(torch.isfinite(wide).all()):
        raise ModelError(f"{name} holds a number that is not finite: it has no scale in {bits} bits")
    grouped = wide.reshape(wide.shape[0], -1, GROUP)  # (O, I / 32, 32)
    if bits == 8:
        largest = grouped.abs().amax(-1)
        scales = torch.where(largest > 0, largest / 127.0, 1.0)
        codes = (grouped / scales[..., None]).round().clamp(-127, 127).to(torch.int8)
        return GroupedMatrix(codes.view(wide.shape), scales, None)
    minima, largest = torch.aminmax(grouped, dim=-1)
    scales = torch.where(largest > minima, (largest - minima) / 15.0, 1.0)
    codes = ((grouped - minima[..., None]) / scales[..., None]).round().clamp(0, 15).to(torch.uint8)
    return GroupedMatrix(codes.view(wide.shape), scales, minima)


def check_columns(weight: Tensor, name: str) -> None:
    """Raise ModelError, with ``name``, if the columns of a matrix cannot be split into groups of 32."""
    if weight.ndim != 2 or weight.shape[1] % GROUP:
        raise ModelError(
            f"{name} has the shape {tuple(weight.shape)}: weights of 4 and 8 bits need a number of columns that is a "
            f"multiple of {GROUP}; use fp32 or bf16"
        )
