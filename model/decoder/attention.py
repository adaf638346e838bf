"""Attention: the formula as a pure function, masks, and the stateless grouped-query module."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.decoder.attention_state import AttentionState
from model.decoder.config import DecoderConfig
from model.decoder.norms import RMSNorm
from model.decoder.rotary import Rotation


def attend(query: Tensor, keys: Tensor, values: Tensor, scale: float | None = None) -> tuple[Tensor, Tensor]:
    """Return attention output (..., T, Dv) and weights (..., T, S); the definition that fast paths are tested against.

    query: (..., T, D). keys: (..., S, D). values: (..., S, Dv). scale: defaults to 1/sqrt(D). The weights are softmax(q
    k^T * scale) (Vaswani et al. 2017, eq. 1).
    """
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = torch.softmax(query @ keys.transpose(-1, -2) * factor, dim=-1)
    return weights @ values, weights


def attend_for_training(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """Compute unfused attention, for training on a CPU in bf16: (B, H, T, D) and (B, Hkv, S, D) -> (B, H, T, D).

    It is faster there than the fused kernel, whose backward pass computes in fp32 even under bf16 autocast: a training
    step of the prefix decoder takes 2.35 s instead of 2.85 s on two cores. In fp32 the fused kernel is faster. The mask
    is added, because masked_fill makes a copy in the forward and in the backward pass.
    """
    group = query.shape[1] // keys.shape[1]
    if group > 1:
        keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)
    scores = (query / math.sqrt(query.shape[-1])) @ keys.transpose(-1, -2)  # (B, H, T, S)
    if mask is not None:
        # -1e4 instead of -inf, because -inf - -inf is NaN. Every row reads at least itself (prefix_mask).
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype, device=mask.device).masked_fill_(~mask, -1e4)
    return torch.softmax(scores, dim=-1, dtype=scores.dtype) @ values


def prefix_mask(prefix_lengths: Tensor, lengths: Tensor, total: int) -> Tensor:
    """Return a boolean mask (B, 1, T, T) for right-padded sequences: True where row i may read column j.

    The mask is causal, and bidirectional inside the first prefix_lengths[b] positions. No row reads a padded column (at
    or beyond lengths[b]), except that a padded row reads itself, so that its softmax is defined. prefix_lengths,
    lengths: (B). total: T.
    """
    index = torch.arange(total, device=lengths.device)
    causal = index[None, :] <= index[:, None]  # (T, T)
    inside = index[None, :] < prefix_lengths[:, None]  # (B, T)
    both = inside[:, :, None] & inside[:, None, :]  # (B, T, T)
    valid = (index[None, :] < lengths[:, None])[:, None, :]  # (B, 1, T)
    allowed = (causal[None] | both) & valid
    return (allowed | torch.eye(total, dtype=torch.bool, device=lengths.device)[None])[:, None]


def causal_training_mask(steps: int, device: torch.device) -> Tensor | None:
    """Return the mask for causal training on complete sequences; None means the decoder's default.

    Right padding needs no mask, because no earlier token reads it. On a GPU the fused kernel skips the unused half of
    the scores only if it gets this explicit form.
    """
    if device.type != "cuda":
        return None
    # Imported here because it imports torch's compiler, which takes 2 s and is only needed for training on a GPU.
    from torch.nn.attention.bias import causal_upper_left

    return causal_upper_left(steps, steps)


def step_mask(past: int, steps: int, device: torch.device) -> Tensor | None:
    """Return the causal mask (T, past + T) of T = ``steps`` new positions after ``past`` cached ones.

    A single step needs no mask and gives None.
    """
    if steps == 1:
        return None
    rows = torch.arange(past, past + steps, device=device)[:, None]
    return torch.arange(past + steps, device=device)[None, :] <= rows


def window_mask(total: int, steps: int, window: int, device: torch.device) -> Tensor:
    """Return the sliding-window mask (T, S): True for positions less than ``window`` back (Jiang et al. 2023).

    T is ``steps``, the last positions of S, ``total``. Later positions are not masked, so the result must be combined
    with a causal mask.
    """
    rows = torch.arange(total - steps, total, device=device)[:, None]
    return torch.arange(total, device=device)[None, :] > rows - window


def within_window(
    mask: Tensor | None, total: int, steps: int, window: int | None, device: torch.device
) -> Tensor | None:
    """Return ``mask`` restricted to the window. mask: None allows all. window: None restricts nothing."""
    if window is None or window >= total:
        return mask
    near = window_mask(total, steps, window, device)
    return near if mask is None else mask & near


def read(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, *, causal: bool = False) -> Tensor:
    """Compute fused attention: (B, H, T, D), (B, Hkv, S, D) -> (B, H, T, D).

    mask: boolean, broadcastable to (B, H, T, S), True where reading is allowed; None allows all. causal: use instead of
    a mask if S = T, so that the kernel skips the upper triangle.
    """
    grouped = query.shape[1] != keys.shape[1]
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, is_causal=causal, enable_gqa=grouped)


class Attention(nn.Module):
    """Grouped-query self-attention (Ainslie et al. 2023)."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads, self.kv_heads, self.dim = config.num_heads, config.num_kv_heads, config.head_dim
        self.window = config.window(layer)
        self.rotated = layer not in config.unrotated
        width = (self.heads + 2 * self.kv_heads) * self.dim
        self.qkv = nn.Linear(config.hidden_size, width, bias=config.attention_bias)
        self.out = nn.Linear(self.heads * self.dim, config.hidden_size, bias=config.output_bias)
        self.query_norm = RMSNorm(self.dim, config.norm_eps) if config.qk_norm else None
        self.key_norm = RMSNorm(self.dim, config.norm_eps) if config.qk_norm else None

    def forward(
        self, x: Tensor, mask: Tensor | None, rotation: Rotation | None, state: AttentionState | None
    ) -> Tensor:
        """Return the attention output (B, T, E) of x (B, T, E).

        mask: boolean, broadcastable to (B, H, T, S), True where reading is allowed. None uses the state's default, or
        without a state allows all. The layer's window restricts it further. rotation: angles of the positions; None for
        no rotation. state: stored keys and values; None without a cache.
        """
        batch, steps, _ = x.shape
        q, k, v = self._split(self.qkv(x), rotation)
        if state is not None:
            y = state.attend(self.layer, q, k, v, self.window, mask)  # (B, H, T, D)
        else:
            mask = within_window(mask, steps, steps, self.window, x.device)
            unfused = self.training and q.device.type == "cpu" and q.dtype != torch.float32
            y = attend_for_training(q, k, v, mask) if unfused else read(q, k, v, mask)
        out: Tensor = self.out(y.transpose(1, 2).reshape(batch, steps, self.heads * self.dim))
        return out

    def _split(self, qkv: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Split (B, T, (H + 2 Hkv) D) into queries (B, H, T, D), keys and values (B, Hkv, T, D), normed and rotated."""
        parts = (self.heads, self.kv_heads, self.kv_heads)
        heads = qkv.view(*qkv.shape[:2], sum(parts), self.dim).transpose(1, 2)
        q, k, v = heads.split_with_sizes(parts, dim=1)
        if self.query_norm is not None and self.key_norm is not None:
            q, k = self.query_norm(q), self.key_norm(k)
        if rotation is None or not self.rotated:
            return q, k, v
        if self.query_norm is not None:
            return rotation.apply(q), rotation.apply(k), v
        # Queries and keys are adjacent, so that one rotation covers both.
        both = rotation.apply(heads[:, : self.heads + self.kv_heads])
        return both[:, : self.heads], both[:, self.heads :], v
