"""Rotary position embedding (Su et al. 2021, RoFormer, eq. 34): rotate pairs of query and key coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.decoder.config import DecoderConfig
from model.decoder.rope_scaling import RopeScaling, default_frequencies


@dataclass(frozen=True, slots=True)
class Rotation:
    """Cosines and signed sines of the angles of positions, (B or 1, 1, T, D) in fp32, for all layers of a model.

    The sines of the first half are negated, so that ``apply`` needs half as many passes as ``rotate``.
    """

    cos: Tensor
    partner_sin: Tensor

    def apply(self, x: Tensor) -> Tensor:
        """Return x (B, H, T, D) rotated, computed in fp32, in the dtype of x."""
        wide = x.float()
        partners = wide.roll(x.shape[-1] // 2, dims=-1)
        return torch.addcmul(wide * self.cos, partners, self.partner_sin).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return x (B, H, T, D) rotated by the angles with cosines and sines cos, sin (T, D/2) or (B, 1, T, D/2).

    Coordinate i is paired with i + D/2, the layout of Hugging Face checkpoints. The paper pairs adjacent coordinates,
    which is the same rotation under a permutation. R_t^T R_s = R_{s-t}, so a score depends only on the distance of the
    two positions.
    """
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class RotaryTable(nn.Module):
    """Table of cosines and sines of position * frequency, in fp32, for positions 0 .. max_positions - 1.

    scaling: scales the frequencies theta^(-2i/D), and may also multiply cosines and sines (YaRN); None for no scaling.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, head_dim: int, max_positions: int, theta: float, scaling: RopeScaling | None = None) -> None:
        super().__init__()
        frequencies, magnitude = default_frequencies(head_dim, theta), 1.0  # (D/2)
        if scaling is not None:
            frequencies, magnitude = scaling.frequencies(head_dim, theta), scaling.magnitude
        angles = torch.outer(torch.arange(max_positions, dtype=torch.float32), frequencies)  # (Delta, D/2)
        self.register_buffer("cos", angles.cos() * magnitude, persistent=False)
        self.register_buffer("sin", angles.sin() * magnitude, persistent=False)

    def forward(self, positions: Tensor) -> Rotation:
        """Return the rotation of positions (B or 1, T)."""
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        return Rotation(torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1))


def rotary_table(config: DecoderConfig) -> RotaryTable:
    """Create the table for a decoder with rotary positions."""
    return RotaryTable(config.head_dim, config.max_positions, config.rope_theta, config.rope)
