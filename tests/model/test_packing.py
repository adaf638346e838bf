"""Packed weights compute what plain ones do, in every kind of layer, and say no to what they cannot do."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, LinearHead
from model.decoder.norms import RMSNorm
from model.decoder.packing import PackedLinear, ShortRMSNorm, can_pack, pack
from model.engine_state.int8 import Int8Linear, int8_weights
from model.errors import ModelError
from tests.tiny_decoders import PREFIX

pytestmark = pytest.mark.skipif(not can_pack(torch.device("cpu"), torch.float32), reason="this torch has no oneDNN")

LLAMA = DecoderConfig(96, 32, 2, 4, 2, 8, 48, 64)
KINDS = {
    "llama": LLAMA,
    "tied": replace(LLAMA, tied_head=True),
    "qwen": replace(LLAMA, attention_bias=True, qk_norm=True),
    "gpt2": replace(
        LLAMA,
        norm="layer",
        positions="learned",
        activation="gelu_tanh",
        attention_bias=True,
        output_bias=True,
        mlp_bias=True,
        num_kv_heads=4,
        tied_head=True,
    ),
    "bert": replace(PREFIX, vocab_size=96, max_positions=64),
}


def made(config: DecoderConfig, dtype: torch.dtype = torch.float32) -> Decoder:
    torch.manual_seed(3)
    model = Decoder(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.copy_(torch.randn_like(parameter) * 0.2 + (1.0 if parameter.dim() == 1 else 0.0))
    rotary = model.rotary
    model.to(dtype)
    model.rotary = None if rotary is None else rotary.float()
    return model


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_hidden_states_and_log_probabilities_are_those_of_plain_weights(kind: str, rows: int) -> None:
    model = made(KINDS[kind])
    tokens = torch.randint(96, (2, rows), generator=torch.Generator().manual_seed(rows))
    with torch.inference_mode():
        plain = model(tokens)
        memory = HeadMemory(plain, tokens, torch.ones_like(tokens, dtype=torch.bool))
        expected = model.next_token(plain[:, -1], memory).logprobs
        assert pack(model)
        hidden = model(tokens)
        found = model.next_token(plain[:, -1], memory).logprobs
    torch.testing.assert_close(hidden, plain, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_no_plain_matrix_is_left_in_the_blocks() -> None:
    model = made(LLAMA)
    pack(model)
    assert not [module for module in model.blocks.modules() if isinstance(module, torch.nn.Linear)]
    assert isinstance(model.head, LinearHead)
    assert model.head.weight is None and model.head.packed is not None
    assert sum(parameter.numel() for parameter in model.parameters()) == model.embedding.weight.numel() + 32


def test_bf16_stays_as_near_to_fp32_as_plain_bf16() -> None:
    if not can_pack(torch.device("cpu"), torch.bfloat16):
        pytest.skip("this CPU multiplies no bf16")
    tokens = torch.randint(96, (4, 30), generator=torch.Generator().manual_seed(1))
    exact, narrow = made(LLAMA), made(LLAMA, torch.bfloat16)
    packed = made(LLAMA, torch.bfloat16)
    pack(packed)
    with torch.inference_mode():
        truth = exact(tokens)
        plain_error = (narrow(tokens).float() - truth).abs().mean()
        packed_error = (packed(tokens).float() - truth).abs().mean()
    assert packed(tokens).dtype == torch.bfloat16
    assert packed_error < 1.2 * plain_error


def test_a_layer_may_multiply_in_bf16_what_comes_in_fp32() -> None:
    if not can_pack(torch.device("cpu"), torch.bfloat16):
        pytest.skip("this CPU multiplies no bf16")
    torch.manual_seed(0)
    weight, bias, x = torch.randn(6, 5), torch.randn(6), torch.randn(3, 5)
    layer = PackedLinear(weight, bias, torch.bfloat16)
    with torch.inference_mode():
        product = layer(x)
    assert product.dtype == torch.bfloat16
    torch.testing.assert_close(product.float(), x @ weight.t() + bias, rtol=2e-2, atol=5e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_short_norm_is_the_norm(dtype: torch.dtype, scale: float) -> None:
    torch.manual_seed(0)
    norm = RMSNorm(24, 1e-5)
    norm.weight.data.normal_()
    norm = norm.to(dtype).requires_grad_(False)
    x = (torch.randn(3, 5, 24) * scale).to(dtype)
    found = ShortRMSNorm(norm)(x)
    assert found.dtype == dtype
    torch.testing.assert_close(found, norm(x))


def test_the_short_norm_of_nothing_and_of_nan() -> None:
    norm = ShortRMSNorm(RMSNorm(4, 1e-5).requires_grad_(False))
    assert torch.equal(norm(torch.zeros(2, 4)), torch.zeros(2, 4))
    assert bool(norm(torch.tensor([[1.0, float("nan"), 0.0, 0.0]])).isnan().all())


def test_weights_of_8_bits_stay_and_the_head_is_packed() -> None:
    model = int8_weights(made(LLAMA))
    tokens = torch.randint(96, (1, 9), generator=torch.Generator().manual_seed(5))
    with torch.inference_mode():
        expected = model.logits(model(tokens))
        assert pack(model)
        found = model.logits(model(tokens))
    assert any(isinstance(module, Int8Linear) for module in model.modules())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_packed_model_is_not_copied() -> None:
    model = made(LLAMA)
    pack(model)
    with pytest.raises(ModelError, match="cannot be copied"):
        copy.deepcopy(model)


def test_what_cannot_be_packed_stays_as_it_is() -> None:
    model = made(LLAMA, torch.float16)
    assert not pack(model)
    assert [module for module in model.blocks.modules() if isinstance(module, torch.nn.Linear)]
    assert not can_pack(torch.device("cuda"), torch.float32)
