"""The worked numbers and the properties the paper states of autoregressive models with attention (2026)."""

from __future__ import annotations

import pytest
import torch
from torch.func import functional_call

from model.decoder.attention import attend, prefix_mask
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.rotary import RotaryTable
from model.decoder.sampling_math import tempered_softmax
from model.errors import ModelError


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        (1.0, (0.659, 0.242, 0.099)),
        # The paper prints other values for these two; these follow from its own formula.
        (0.5, (0.864, 0.117, 0.019)),
        (2.0, (0.502, 0.304, 0.194)),
    ],
)
def test_softmax_at_three_temperatures(tau: float, expected: tuple[float, ...]) -> None:
    found = tempered_softmax(torch.tensor([2.0, 1.0, 0.1]), tau)
    torch.testing.assert_close(found, torch.tensor(expected), atol=5e-4, rtol=0)


def test_temperature_tends_to_argmax_and_to_uniform() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.1], [-3.0, float("-inf"), 8.0]])
    assert tempered_softmax(logits, 1e-38).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    torch.testing.assert_close(tempered_softmax(logits, 1e9)[0], torch.full((3,), 1 / 3))
    assert tempered_softmax(logits, 1e9)[1, 1] == 0  # a token ruled out stays so
    logprobs = torch.log_softmax(logits, dim=-1)
    torch.testing.assert_close(tempered_softmax(logprobs, 0.7), tempered_softmax(logits, 0.7))


@pytest.mark.parametrize("tau", [0.0, -1.0, float("nan"), float("inf")])
def test_temperature_must_be_positive(tau: float) -> None:
    with pytest.raises(ModelError, match=f"temperature is {tau}"):
        tempered_softmax(torch.zeros(3), tau)


def test_attention_of_one_query_over_three_keys() -> None:
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    output, weights = attend(torch.tensor([[2.0, 1.0]]), keys, keys, scale=1.0)
    torch.testing.assert_close(weights, torch.tensor([[0.245, 0.090, 0.665]]), atol=5e-4, rtol=0)
    torch.testing.assert_close(output, torch.tensor([[0.910, 0.755]]), atol=5e-4, rtol=0)


def rotation(table: RotaryTable, position: int, dim: int) -> torch.Tensor:
    """R_t (D, D): column i is the rotated i-th basis vector."""
    return table(torch.tensor([[position]])).apply(torch.eye(dim)[None, :, None])[0, :, 0].T


def test_rotations_compose_to_the_distance() -> None:
    dim, table = 8, RotaryTable(8, 64, 10000.0)
    for t, s in ((0, 0), (0, 7), (3, 3), (3, 11), (20, 63)):
        product = rotation(table, t, dim).T @ rotation(table, s, dim)
        torch.testing.assert_close(product, rotation(table, s - t, dim), atol=1e-5, rtol=0)
        torch.testing.assert_close(product.T, rotation(table, s, dim).T @ rotation(table, t, dim), atol=1e-5, rtol=0)


def jacobian(config: DecoderConfig, steps: int, mask: torch.Tensor | None = None) -> torch.Tensor:
    """(T, T): the largest |d output_i / d input embedding_j| of a fresh decoder.

    All tokens differ, so that the embedding matrix's row of a token is the input embedding of its position.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(config).eval()
    ids = torch.arange(steps)[None]

    def outputs(embedding: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = functional_call(model, {"embedding.weight": embedding}, (ids, None, mask))
        return hidden[0]

    full = torch.autograd.functional.jacobian(outputs, model.embedding.weight.detach())  # type: ignore[no-untyped-call]
    blocks: torch.Tensor = full.abs().amax(dim=(1, 3))[:, :steps]
    return blocks


def tiny(prefix: bool) -> DecoderConfig:
    return DecoderConfig(
        vocab_size=6,
        hidden_size=8,
        num_layers=2,
        num_heads=2,
        num_kv_heads=1,
        head_dim=4,
        intermediate_size=12,
        max_positions=6,
        prefix=prefix,
    )


def test_causal_masking_is_a_zero_block_of_the_jacobian() -> None:
    blocks = jacobian(tiny(prefix=False), 6)
    future = torch.ones(6, 6, dtype=torch.bool).triu(1)
    assert (blocks[future] == 0).all()
    assert (blocks[~future] > 1e-6).all()


def test_a_prefix_decoder_reads_its_prompt_both_ways() -> None:
    assert (jacobian(tiny(prefix=True), 6) > 1e-6).all()


def test_the_answer_of_a_prefix_decoder_is_causal() -> None:
    prompt, total = 3, 6
    blocks = jacobian(tiny(prefix=True), total, prefix_mask(torch.tensor([prompt]), torch.tensor([total]), total))
    read = torch.ones(total, total, dtype=torch.bool).tril()
    read[:prompt, :prompt] = True
    assert (blocks[read] > 1e-6).all()
    assert (blocks[~read] == 0).all()
