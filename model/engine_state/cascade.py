"""Attention over disjoint sets of positions: each part's softmax with its log-sum-exp, and the merge of two parts.

For positions I the pair (o(I), s(I)) is the softmax output over I and s(I) = log sum_{i in I} exp(q k_i / sqrt(D)).
Pairs of disjoint sets merge exactly, in any order (FlashInfer, Ye et al. 2025, section 2.2; Hydragen, Juravsky et al.
2024, section 3.1). Keys that many rows share are therefore read once for all of their queries, and each row's own keys
separately.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

_FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_INVARIANT_ROWS = 16  # fp32 numbers in a cache line of 64 bytes


@dataclass(frozen=True, slots=True)
class PartialAttention:
    """Attention over some of the positions: output (..., D) and log_sum (...) in fp32 of the scaled scores."""

    output: Tensor
    log_sum: Tensor


def read_part(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> PartialAttention:
    """query (B, H, T, D), keys and values (B, Hkv, S, D) -> output (B, H, T, D), log_sum (B, H, T).

    Nothing is copied: keys and values may be views of any strides (also 0, for rows that read the same ones) with D
    contiguous. Query head h reads key head h // (H / Hkv). mask (broadcastable to (B, H, T, S)): True where reading is
    allowed, at least once in each row. causal: row t reads columns up to t only.
    """
    if query.device.type == "cpu":
        bias = None if mask is None else torch.zeros(mask.shape, dtype=query.dtype).masked_fill_(~mask, -math.inf)
        output, log_sum = _FUSED(query, keys, values, 0.0, causal, attn_mask=bias)
        return PartialAttention(output, log_sum)
    return read_part_written_out(query, keys, values, mask, causal=causal)


def read_part_invariant(query: Tensor, keys: Tensor, values: Tensor) -> PartialAttention:
    """``read_part`` of (N, Hkv, G, D) whose results for a row do not depend on N or on the row's index, on a CPU.

    keys and values (N, Hkv, S, D), or (1, Hkv, S, D) shared by all rows: then queries of several rows fill a block.

    The fused kernel gives each thread a consecutive buffer of the length of its scores. If that length is not a
    multiple of a cache line, the second thread's matrix products work on unaligned memory with other instructions: a
    row's last bits then depended on which thread read it (seen with two threads, fp32, torch 2.13). With blocks of
    _INVARIANT_ROWS queries every buffer starts at a cache line, and every product has the same shape.
    """
    rows, kv_heads, group, dim = query.shape
    if rows == 1 or keys.shape[0] == rows:
        part = read_part(F.pad(query, (0, 0, 0, -group % _INVARIANT_ROWS)), keys, values)
        return PartialAttention(part.output[:, :, :group], part.log_sum[:, :, :group])
    side_by_side = query.transpose(0, 1).reshape(kv_heads, rows * group, dim)
    padded = F.pad(side_by_side, (0, 0, 0, -(rows * group) % _INVARIANT_ROWS))
    blocks = padded.view(kv_heads, -1, _INVARIANT_ROWS, dim).transpose(0, 1)  # (blocks, Hkv, _INVARIANT_ROWS, D)
    every = (blocks.shape[0], -1, -1, -1)
    part = read_part(blocks, keys.expand(every), values.expand(every))
    output = part.output.transpose(0, 1).reshape(kv_heads, -1, dim)[:, : rows * group]
    log_sum = part.log_sum.transpose(0, 1).reshape(kv_heads, -1)[:, : rows * group]
    return PartialAttention(
        output.reshape(kv_heads, rows, group, dim).transpose(0, 1),
        log_sum.reshape(kv_heads, rows, group).transpose(0, 1),
    )


def read_part_written_out(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> PartialAttention:
    """Reference implementation on any device, used to test the fused kernel. Softmax in fp32."""
    group = query.shape[1] // keys.shape[1]
    if group > 1:
        keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)
    scores = (query @ keys.transpose(-1, -2)).float() / math.sqrt(query.shape[-1])  # (B, H, T, S)
    if causal:
        lower = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~lower, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    log_sum = torch.logsumexp(scores, dim=-1)
    weights = (scores - log_sum[..., None]).exp().to(values.dtype)
    return PartialAttention(weights @ values, log_sum)


def merge(first: PartialAttention, second: PartialAttention) -> PartialAttention:
    """The part over both sets of positions: o = (e^s1 o1 + e^s2 o2) / (e^s1 + e^s2), s = log(e^s1 + e^s2)."""
    share = torch.sigmoid(second.log_sum - first.log_sum)[..., None]  # weight of the second
    output = torch.lerp(first.output.float(), second.output.float(), share).to(first.output.dtype)
    return PartialAttention(output, torch.logaddexp(first.log_sum, second.log_sum))


def merge_invariant(first: PartialAttention, second: PartialAttention) -> PartialAttention:
    """``merge`` whose results do not depend on the position in the tensor.

    Elementwise kernels compute the last few elements of a tensor with other instructions than the rest, which may
    differ in the last bit; a softmax over two numbers and plain products do not. log_sum in the same way: max + log.
    """
    pair = torch.stack((first.log_sum, second.log_sum), dim=-1)
    shares = torch.softmax(pair, dim=-1)
    output = first.output.float() * shares[..., :1] + second.output.float() * shares[..., 1:]
    return PartialAttention(output.to(first.output.dtype), torch.logsumexp(pair, dim=-1))
