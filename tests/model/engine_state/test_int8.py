"""Weights in 8 bits: the rounding by its bound, the layer by its definition, the loss in logits measured."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.engine_state.int8 import Int8Linear, int8_weights, logit_loss, quantised
from model.errors import ModelError


def test_no_weight_is_off_by_more_than_half_a_step() -> None:
    weight = torch.randn(7, 33, generator=torch.Generator().manual_seed(0)) * torch.arange(7)[:, None]
    stored, scales = quantised(weight)
    assert stored.dtype is torch.int8
    assert scales[0] == 1  # a channel of zeros
    assert bool(((stored * scales[:, None] - weight).abs() <= scales[:, None] / 2 * (1 + 1e-5)).all())
    assert stored[1:].abs().amax(dim=1).tolist() == [127] * 6


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 15, 200])
def test_the_layer_is_a_product_with_the_stored_weights(rows: int, dtype: torch.dtype) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        linear, x = nn.Linear(64, 48).to(dtype), torch.randn(2, rows, 64).to(dtype)
    layer = Int8Linear(linear)
    exact = (x.double() @ layer.weight.double().t()) * layer.scales.double() + linear.bias.double()
    found = layer(x)
    assert found.dtype is dtype
    assert found.shape == (2, rows, 48)
    torch.testing.assert_close(found.double(), exact, atol=2e-2 if dtype is torch.bfloat16 else 1e-5, rtol=1e-2)


def test_a_decoder_in_8_bits_and_its_loss() -> None:
    config = DecoderConfig(97, 64, 2, 4, 2, 16, 96, 64)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(config).eval().requires_grad_(False)
        nn.init.normal_(model.head.weight, std=0.3)  # type: ignore[arg-type]
    small = int8_weights(model)
    kinds = [type(m) for m in small.blocks.modules() if isinstance(m, (nn.Linear, Int8Linear))]
    assert kinds == [Int8Linear] * 8
    assert all(isinstance(m, nn.Linear) for m in [model.blocks[0].attention.qkv, model.blocks[1].mlp.down])  # type: ignore[union-attr]
    ids = torch.randint(97, (3, 20), generator=torch.Generator().manual_seed(1))
    loss = logit_loss(model, small, ids)
    assert 0 < loss.mean_difference < 0.05 < model.logits(model(ids)).std()
    assert 0 < loss.divergence < 0.01
    assert loss.same_best > 0.9
    nothing = logit_loss(model, model, ids)
    assert (nothing.mean_difference, nothing.divergence, nothing.same_best) == (0.0, 0.0, 1.0)
    model.blocks[0].mlp.down.weight[0, 0] = float("inf")  # type: ignore[union-attr,index]
    with pytest.raises(ModelError, match=r"0.mlp.down"):
        int8_weights(model)
