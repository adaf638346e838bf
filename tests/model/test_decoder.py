"""The decoder's one invariant in many forms: however the work is split, the numbers are the same."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from model.decoder.attention import prefix_mask
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory
from model.errors import ModelError
from tests import tiny_decoders

LLAMA = dataclasses.replace(tiny_decoders.LLAMA, num_layers=3, head_dim=6)
PREFIX = dataclasses.replace(tiny_decoders.PREFIX, num_layers=3, norm_eps=1e-12)
EXACT = {"atol": 2e-5, "rtol": 1e-5}


def build(config: DecoderConfig, seed: int = 0) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Decoder(config).eval().requires_grad_(False)


def tokens(batch: int, steps: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 41, (batch, steps), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("split", [(12,), (1,) * 12, (5, 7), (5, 1, 1, 3, 2)])
def test_cached_equals_uncached_however_it_is_split(split: tuple[int, ...]) -> None:
    model, ids = build(LLAMA), tokens(2, 12)
    cache = model.new_cache(2, 12)
    parts = [model(part, cache) for part in ids.split(split, dim=1)]
    assert cache.length == 12
    torch.testing.assert_close(torch.cat(parts, dim=1), model(ids), **EXACT)


@pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
def test_samples_of_an_expanded_cache_equal_single_sequences(config: DecoderConfig) -> None:
    model, prompt, answers = build(config), tokens(1, 7), tokens(3, 4, seed=1)
    cache = model.new_cache(1, 11)
    model(prompt, cache)
    many = cache.expand(3)
    together = torch.cat([model(answers[:, t : t + 1], many) for t in range(4)], dim=1)
    for row in range(3):
        alone = model.new_cache(1, 11)
        model(prompt, alone)
        expected = torch.cat([model(answers[row : row + 1, t : t + 1], alone) for t in range(4)], dim=1)
        torch.testing.assert_close(together[row : row + 1], expected, **EXACT)
    assert not torch.allclose(together[0], together[1], atol=1e-2)  # the samples do differ


@pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
def test_a_batch_equals_its_rows(config: DecoderConfig) -> None:
    model, ids = build(config), tokens(3, 9)
    torch.testing.assert_close(model(ids), torch.cat([model(row[None]) for row in ids]), **EXACT)


def test_prefix_decoding_from_the_cache_equals_one_masked_padded_pass() -> None:
    model = build(PREFIX)
    prompts, lengths, total = (6, 2, 9), (10, 9, 11), 13
    ids = tokens(3, total, seed=2)
    padded = model(ids, mask=prefix_mask(torch.tensor(prompts), torch.tensor(lengths), total))
    for row, (prompt, length) in enumerate(zip(prompts, lengths, strict=True)):
        single = ids[row : row + 1, :length]
        cache = model.new_cache(1, length)
        parts = [model(single[:, :prompt], cache)]
        parts += [model(single[:, t : t + 1], cache) for t in range(prompt, length)]
        torch.testing.assert_close(padded[row : row + 1, :length], torch.cat(parts, dim=1), **EXACT)
    # Whatever stands in the padding, the answer is the same.
    ids[1, 9:] = 0
    again = model(ids, mask=prefix_mask(torch.tensor(prompts), torch.tensor(lengths), total))
    torch.testing.assert_close(again[1, :9], padded[1, :9], **EXACT)


def test_prefix_answer_continues_causally_in_larger_steps() -> None:
    model, ids = build(PREFIX), tokens(1, 12, seed=3)
    one, two = model.new_cache(1, 12), model.new_cache(1, 12)
    single = torch.cat([model(ids[:, :5], one), *(model(ids[:, t : t + 1], one) for t in range(5, 12))], dim=1)
    block = torch.cat([model(ids[:, :5], two), model(ids[:, 5:], two)], dim=1)
    torch.testing.assert_close(block, single, **EXACT)


@pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
def test_context_limit(config: DecoderConfig) -> None:
    model = build(config)
    assert model(tokens(1, 24)).shape == (1, 24, 16)
    with pytest.raises(ModelError, match=r"25 tokens.* 24"):
        model(tokens(1, 25))
    cache = model.new_cache(1, 24)
    model(tokens(1, 24), cache)
    with pytest.raises(ModelError, match="25 tokens do not fit"):
        model(tokens(1, 1), cache)
    with pytest.raises(ModelError, match="a cache of 25 positions"):
        model.new_cache(1, 25)


def test_no_token_is_refused() -> None:
    with pytest.raises(ModelError, match="at least one token"):
        build(LLAMA)(torch.empty(1, 0, dtype=torch.long))


def test_next_token_is_the_log_softmax_of_the_logits() -> None:
    model = build(LLAMA)
    hidden = model(tokens(2, 6))
    logits = model.logits(hidden)
    logprobs = torch.log_softmax(logits, dim=-1)
    torch.testing.assert_close(model.next_token(hidden[:, -1]).logprobs, logprobs[:, -1], **EXACT)
    assert model.next_token(hidden[:, -1]).copy is None
    targets = tokens(2, 6, seed=5)
    expected = logprobs.gather(-1, targets[..., None]).squeeze(-1)
    torch.testing.assert_close(model.target_logprobs(hidden, targets), expected, **EXACT)


def test_tied_head_is_the_embedding() -> None:
    model = build(DecoderConfig(**{name: getattr(LLAMA, name) for name in LLAMA.__slots__} | {"tied_head": True}))
    assert "head.weight" not in dict(model.named_parameters())
    hidden = model(tokens(1, 3))
    torch.testing.assert_close(model.logits(hidden), hidden @ model.embedding.weight.T, **EXACT)


def test_pointer_head_has_no_logits() -> None:
    model = build(PREFIX)
    with pytest.raises(ModelError, match="call next_token"):
        model.logits(model(tokens(1, 3)))
    ids = tokens(1, 3)
    hidden = model(ids)
    memory = HeadMemory(hidden, ids, torch.ones_like(ids, dtype=torch.bool))
    assert model.next_token(hidden[:, -1], memory).logprobs.shape == (1, 41)


@pytest.mark.parametrize("seed", range(3))
def test_a_fresh_model_is_near_the_uniform_distribution(seed: int) -> None:
    model = build(LLAMA, seed)
    logprobs = model.next_token(model(tokens(4, 8))[:, -1]).logprobs
    assert logprobs.isfinite().all()
    assert (logprobs - torch.tensor(1 / 41).log()).abs().max() < 1.0
