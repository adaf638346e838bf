"""The attention module against the formula, and the masks against their definition, position by position."""

from __future__ import annotations

import math

import pytest
import torch

from model.decoder.attention import Attention, attend, prefix_mask, step_mask
from model.decoder.cache import KVCache
from model.decoder.config import DecoderConfig
from model.decoder.rotary import RotaryTable


def config(kv_heads: int, bias: bool) -> DecoderConfig:
    return DecoderConfig(
        vocab_size=11,
        hidden_size=12,
        num_layers=1,
        num_heads=4,
        num_kv_heads=kv_heads,
        head_dim=6,
        intermediate_size=16,
        max_positions=16,
        attention_bias=bias,
        output_bias=bias,
    )


def by_formula(module: Attention, x: torch.Tensor, table: RotaryTable) -> torch.Tensor:
    """Causal attention, head by head and row by row."""
    q_size, kv_size = module.heads * module.dim, module.kv_heads * module.dim
    q, k, v = module.qkv(x).split((q_size, kv_size, kv_size), dim=-1)
    heads = []
    turn = table(torch.arange(x.shape[1])[None])
    for head in range(module.heads):
        group = head // (module.heads // module.kv_heads)
        own, shared = slice(head * module.dim, (head + 1) * module.dim), slice(group * 6, (group + 1) * 6)
        query, key = turn.apply(q[:, None, :, own])[:, 0], turn.apply(k[:, None, :, shared])[:, 0]
        rows = [attend(query[:, t : t + 1], key[:, : t + 1], v[:, : t + 1, shared])[0] for t in range(x.shape[1])]
        heads.append(torch.cat(rows, dim=1))
    out: torch.Tensor = module.out(torch.cat(heads, dim=-1))
    return out


@pytest.mark.parametrize(("kv_heads", "bias"), [(4, False), (2, True), (1, True)])
def test_module_equals_the_formula(kv_heads: int, bias: bool) -> None:
    torch.manual_seed(0)
    settings = config(kv_heads, bias)
    module, table = Attention(settings, 0), RotaryTable(6, 16, 10000.0)
    x = torch.randn(2, 7, 12)
    expected = by_formula(module, x, table)
    full = module(x, step_mask(0, 7, x.device), table(torch.arange(7)[None]), None)
    torch.testing.assert_close(full, expected, atol=1e-5, rtol=1e-5)
    store = KVCache(settings, 2, 16, dtype=torch.float32, device="cpu")
    parts = []
    for step in (slice(0, 4), slice(4, 5), slice(5, 7)):
        width = step.stop - step.start
        parts.append(module(x[:, step], None, table(store.positions(width)), store))
        store.advance(width)
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, atol=1e-5, rtol=1e-5)


def test_attend_scales_by_the_root_of_the_head_size() -> None:
    q, k = torch.tensor([[2.0, 0.0, 0.0, 0.0]]), torch.eye(4)
    _, weights = attend(q, k, k)
    expected = [math.e / (math.e + 3), *[1 / (math.e + 3)] * 3]
    torch.testing.assert_close(weights[0], torch.tensor(expected))


def test_step_mask_is_causal_after_the_past() -> None:
    mask = step_mask(3, 2, torch.device("cpu"))
    assert mask is not None
    assert mask.tolist() == [[True] * 4 + [False], [True] * 5]
    assert step_mask(3, 1, torch.device("cpu")) is None


def test_prefix_mask_cell_by_cell() -> None:
    prefix, length, total = (2, 0, 4), (4, 3, 4), 5
    mask = prefix_mask(torch.tensor(prefix), torch.tensor(length), total)
    assert mask.shape == (3, 1, 5, 5)
    for b in range(3):
        for i in range(total):
            for j in range(total):
                both = i < prefix[b] and j < prefix[b]
                expected = i == j or ((j <= i or both) and j < length[b])
                assert bool(mask[b, 0, i, j]) == expected, (b, i, j)
