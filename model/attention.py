"""Attention: the formula as a pure function, masks, and the grouped-query module with its cache."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.cache import KVCache
from model.config import DecoderConfig
from model.rotary import RotaryTable


def attend(query: Tensor, keys: Tensor, values: Tensor, scale: float | None = None) -> tuple[Tensor, Tensor]:
    """Output and weights of one attention read, the definition the fast path is tested against.

    query (..., T, D), keys (..., S, D), values (..., S, Dv) -> output (..., T, Dv), weights (..., T, S) with
    weights = softmax(q k^T * scale) (Vaswani et al. 2017, eq. 1); scale defaults to 1/sqrt(D).
    """
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = torch.softmax(query @ keys.transpose(-1, -2) * factor, dim=-1)
    return weights @ values, weights


def attend_for_training(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """The same read written out, for training on a CPU: (B, H, T, D) and (B, Hkv, S, D) -> (B, H, T, D).

    There the fused kernel's backward pass computes in fp32 even under bf16 autocast; a training step of the prefix
    decoder took 2.85 s with it and 2.35 s with this on two cores.
    """
    group = query.shape[1] // keys.shape[1]
    if group > 1:
        keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)
    scores = (query / math.sqrt(query.shape[-1])) @ keys.transpose(-1, -2)  # (B, H, T, S)
    if mask is not None:
        # Finite, so that bf16 has no -inf - -inf; every row reads at least itself (prefix_mask).
        scores = scores.masked_fill(~mask, -1e4)
    return torch.softmax(scores, dim=-1, dtype=scores.dtype) @ values


def prefix_mask(prefix_lengths: Tensor, lengths: Tensor, total: int) -> Tensor:
    """Boolean mask (B, 1, T, T), True where row i may read column j, for right-padded sequences.

    Causal, and both ways inside the first prefix_lengths[b] positions; nothing reads a padded column at or beyond
    lengths[b]. A padded row reads itself only, so that its softmax is defined.
    """
    index = torch.arange(total, device=lengths.device)
    causal = index[None, :] <= index[:, None]  # (T, T)
    inside = index[None, :] < prefix_lengths[:, None]  # (B, T)
    both = inside[:, :, None] & inside[:, None, :]  # (B, T, T)
    valid = (index[None, :] < lengths[:, None])[:, None, :]  # (B, 1, T)
    allowed = (causal[None] | both) & valid
    return (allowed | torch.eye(total, dtype=torch.bool, device=lengths.device)[None])[:, None]


def step_mask(past: int, steps: int, device: torch.device) -> Tensor | None:
    """Causal mask (T, past + T) for ``steps`` new positions after ``past`` cached ones; None for a single step."""
    if steps == 1:
        return None
    rows = torch.arange(past, past + steps, device=device)[:, None]
    return torch.arange(past + steps, device=device)[None, :] <= rows


class Attention(nn.Module):
    """Grouped-query self-attention with an optional cache (Ainslie et al. 2023)."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads, self.kv_heads, self.dim = config.num_heads, config.num_kv_heads, config.head_dim
        width = (self.heads + 2 * self.kv_heads) * self.dim
        self.qkv = nn.Linear(config.hidden_size, width, bias=config.attention_bias)
        self.out = nn.Linear(self.heads * self.dim, config.hidden_size, bias=config.output_bias)

    def forward(self, x: Tensor, mask: Tensor | None, rotary: RotaryTable | None, cache: KVCache | None) -> Tensor:
        """x (B, T, E) -> (B, T, E). mask: boolean, broadcastable to (B, H, T, S), True where reading is allowed."""
        batch, steps, _ = x.shape
        split = (self.heads, self.kv_heads, self.kv_heads)
        q, k, v = self.qkv(x).view(batch, steps, sum(split), self.dim).transpose(1, 2).split(split, dim=1)
        if rotary is not None:
            start = cache.length if cache is not None else 0
            q, k = rotary(q, start), rotary(k, start)
        if cache is not None:
            k, v = cache.append(self.layer, k, v)
        if self.training and q.device.type == "cpu":
            y = attend_for_training(q, k, v, mask)  # (B, H, T, D)
        else:
            grouped = self.heads != self.kv_heads
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=grouped)  # (B, H, T, D)
        out: Tensor = self.out(y.transpose(1, 2).reshape(batch, steps, self.heads * self.dim))
        return out
