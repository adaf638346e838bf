"""Normalisation layers of a decoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.decoder.config import DecoderConfig


class RMSNorm(nn.Module):
    """The norm x / sqrt(mean(x^2) + eps) * weight, with the mean in fp32 (Zhang and Sennrich 2019, eq. 4)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised x, (..., E)."""
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def make_norm(config: DecoderConfig) -> nn.Module:
    """Create the norm that the config names, over E."""
    if config.norm == "rms":
        return RMSNorm(config.hidden_size, config.norm_eps)
    return nn.LayerNorm(config.hidden_size, eps=config.norm_eps)
