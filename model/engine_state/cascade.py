"""Attention over disjoint sets of positions: the softmax of each set with its log-sum-exp, and the merge of two sets.

For a set I of positions, o(I) is the softmax output over I and s(I) = log sum_{i in I} exp(q k_i / sqrt(D)). The pairs
(o, s) of disjoint sets merge exactly, in any order (FlashInfer, Ye et al. 2025, section 2.2; Hydragen, Juravsky et al.
2024, section 3.1). Keys that many rows share can therefore be read once for all of their queries.
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
    """Attention over some of the positions.

    output: (..., D). log_sum: (...) in fp32, log-sum-exp of the scaled scores.
    """

    output: Tensor
    log_sum: Tensor


def read_part(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> PartialAttention:
    """Return the attention of query (B, H, T, D) over keys and values (B, Hkv, S, D), without copying them.

    Keys and values may be views with any strides (0 for rows that read the same ones), if D is contiguous. Query head h
    reads key head h // (H / Hkv). mask: boolean, broadcastable to (B, H, T, S), True where reading is allowed, at least
    once in each row; None allows all. causal: row t reads columns up to t only.
    """
    if query.device.type == "cpu":
        bias = None if mask is None else torch.zeros(mask.shape, dtype=query.dtype).masked_fill_(~mask, -math.inf)
        output, log_sum = _FUSED(query, keys, values, 0.0, causal, attn_mask=bias)
        return PartialAttention(output, log_sum)
    return read_part_written_out(query, keys, values, mask, causal=causal)


def read_part_invariant(query: Tensor, keys: Tensor, values: Tensor) -> PartialAttention:
    """Return what ``read_part`` does on a CPU, with a row's results independent of N and of the row's index.

    query: (N, Hkv, G, D). keys, values: (N, Hkv, S, D), or (1, Hkv, S, D) if all rows share them; the queries of
    several rows then fill a block.

    The fused kernel gives each thread a consecutive buffer for its scores. If a buffer's length is not a multiple of a
    cache line, the matrix products of later threads use other instructions on unaligned memory, and the last bits of a
    row depend on its thread. With blocks of _INVARIANT_ROWS queries every buffer starts at a cache line, and every
    product has the same shape.
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
    """Return what ``read_part`` does, on any device, with the softmax in fp32. It also tests the fused kernel."""
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
    """Return the attention over both sets: o = (e^s1 o1 + e^s2 o2) / (e^s1 + e^s2), s = log(e^s1 + e^s2)."""
    share = torch.sigmoid(second.log_sum - first.log_sum)[..., None]  # weight of the second
    output = torch.lerp(first.output.float(), second.output.float(), share).to(first.output.dtype)
    return PartialAttention(output, torch.logaddexp(first.log_sum, second.log_sum))


def merge_invariant(first: PartialAttention, second: PartialAttention) -> PartialAttention:
    """Return what ``merge`` does, with results that do not depend on an element's position in the tensor.

    Kernels of ``sigmoid`` and ``logaddexp`` compute the last few elements of a tensor with other instructions, which
    may change the last bit. A softmax and a log-sum-exp over two numbers, and plain products, do not.
    """
    pair = torch.stack((first.log_sum, second.log_sum), dim=-1)
    shares = torch.softmax(pair, dim=-1)
    output = first.output.float() * shares[..., :1] + second.output.float() * shares[..., 1:]
    return PartialAttention(output.to(first.output.dtype), torch.logsumexp(pair, dim=-1))
