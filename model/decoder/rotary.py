"""Rotary position embedding (Su et al. 2021, RoFormer, eq. 34): rotate pairs of query and key coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.decoder.config import DecoderConfig
from model.decoder.rope_scaling import RopeScaling, default_frequencies


@dataclass(frozen=True, slots=True)
class Rotation:
    """Angles of positions, (B or 1, 1, T, D) in fp32: each coordinate's cosine, and its partner's sine.

    A coordinate of the first half uses minus the sine of its partner, one of the second half plus: ``rotate`` in half
    as many passes, for every layer of a model.
    """

    cos: Tensor
    partner_sin: Tensor

    def apply(self, x: Tensor) -> Tensor:
        """Rotate x (B, H, T, D); computed in fp32, returned in x's dtype."""
        wide = x.float()
        partners = wide.roll(x.shape[-1] // 2, dims=-1)
        return torch.addcmul(wide * self.cos, partners, self.partner_sin).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate x (B, H, T, D) by the angles whose cosines and sines are cos, sin (T, D/2) or (B, 1, T, D/2).

    Coordinate i is paired with i + D/2 (the layout of Hugging Face checkpoints; the paper pairs neighbours, which is
    the same rotation under a permutation of coordinates). Since R_t is orthogonal, R_t^T R_s = R_{s-t}: a score
    depends on the distance of the two positions only.
    """
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class RotaryTable(nn.Module):
    """Cosines and sines of position * frequency, in fp32, for positions 0 .. max_positions - 1.

    Frequencies are theta^(-2i/D), or scaled; the scaling may also multiply cosines and sines (YaRN).
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
        """Return the angles of positions (B or 1, T)."""
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        return Rotation(torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1))


def rotary_table(config: DecoderConfig) -> RotaryTable:
    """Return the table of a decoder with rotary positions."""
    return RotaryTable(config.head_dim, config.max_positions, config.rope_theta, config.rope)
