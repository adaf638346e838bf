"""Rotary position embedding (Su et al. 2021, RoFormer, eq. 34): rotate pairs of query and key coordinates."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate x (B, H, T, D) by the angles whose cosines and sines are cos, sin (T, D/2).

    Coordinate i is paired with i + D/2 (the layout of Hugging Face checkpoints; the paper pairs neighbours, which is
    the same rotation under a permutation of coordinates). Since R_t is orthogonal, R_t^T R_s = R_{s-t}: a score
    depends on the distance of the two positions only.
    """
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class RotaryTable(nn.Module):
    """Cosines and sines of position * theta^(-2i/D), in fp32, for positions 0 .. max_positions - 1."""

    cos: Tensor
    sin: Tensor

    def __init__(self, head_dim: int, max_positions: int, theta: float) -> None:
        super().__init__()
        # 1 / theta^x and not theta^-x: they round differently, and at position 131,072 that is 0.008 radians away from
        # the angles the published checkpoints were trained with.
        inverse = 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)  # (D/2)
        angles = torch.outer(torch.arange(max_positions, dtype=torch.float32), inverse)  # (Delta, D/2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor, start: int) -> Tensor:
        """Rotate x (B, H, T, D), whose first position is ``start``; computed in fp32, returned in x's dtype."""
        steps = x.shape[2]
        cos, sin = self.cos[start : start + steps], self.sin[start : start + steps]  # (T, D/2)
        return rotate(x.float(), cos, sin).to(x.dtype)
