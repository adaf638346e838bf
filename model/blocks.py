"""Norms, feed-forward layers and the transformer block, in the variants DecoderConfig names."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import Attention
from model.cache import KVCache
from model.config import DecoderConfig
from model.rotary import RotaryTable


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight, the mean in fp32 (Zhang and Sennrich 2019, eq. 4)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """(..., E) -> (..., E)."""
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * scaled.to(x.dtype)


def make_norm(config: DecoderConfig) -> nn.Module:
    """The norm the config names, over E."""
    if config.norm == "rms":
        return RMSNorm(config.hidden_size, config.norm_eps)
    return nn.LayerNorm(config.hidden_size, eps=config.norm_eps)


class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x)) (Shazeer 2020, eq. 6); gate and up are one matrix product."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.gate_up = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=config.mlp_bias)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, E) -> (B, T, E)."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        out: Tensor = self.down(F.silu(gate) * up)
        return out


class GeluMLP(nn.Module):
    """down(gelu(up(x))) with the exact (erf) GELU (Hendrycks and Gimpel 2016)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, E) -> (B, T, E)."""
        out: Tensor = self.down(F.gelu(self.up(x)))
        return out


class Block(nn.Module):
    """Attention and feed-forward, each with a residual, normalised before (pre) or after (post) the sum."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.post = config.norm_position == "post"
        self.attention = Attention(config, layer)
        self.attention_norm = make_norm(config)
        self.mlp: nn.Module = SwiGLU(config) if config.activation == "swiglu" else GeluMLP(config)
        self.mlp_norm = make_norm(config)

    def forward(self, x: Tensor, mask: Tensor | None, rotary: RotaryTable | None, cache: KVCache | None) -> Tensor:
        """(B, T, E) -> (B, T, E)."""
        if self.post:
            x = self.attention_norm(x + self.attention(x, mask, rotary, cache))
            out: Tensor = self.mlp_norm(x + self.mlp(x))
            return out
        x = x + self.attention(self.attention_norm(x), mask, rotary, cache)
        summed: Tensor = x + self.mlp(self.mlp_norm(x))
        return summed
