"""The reference decoding loop with a tiny prefix decoder and a tiny Llama."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from generation.decoding.loop import DecodedTokens, decode
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.errors import ModelError
from tests import tiny_decoders

LLAMA = dataclasses.replace(tiny_decoders.LLAMA, vocab_size=31)
PREFIX = dataclasses.replace(tiny_decoders.PREFIX, vocab_size=31)
BOTH = pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
PROMPT = (3, 7, 7, 19, 4, 7, 22)
NONE: frozenset[int] = frozenset()
WARM = SamplingParams(temperature=1.0, max_tokens=8)


def build(config: DecoderConfig, seed: int = 0) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(config)
        for parameter in model.parameters():  # far from uniform, so that samples differ
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.4)
    return model.eval().requires_grad_(False)


def uncached(model: Decoder, prompt: tuple[int, ...], answer: tuple[int, ...]) -> torch.Tensor:
    """Return log-probabilities (V) of the token after prompt and answer, computed without a cache."""
    ids = torch.tensor([prompt + answer])
    total, count = ids.shape[1], len(prompt)
    mask = torch.ones(total, total, dtype=torch.bool).tril()
    if model.config.prefix:
        mask[:count, :count] = True
    hidden = model(ids, mask=mask)
    memory = None
    if model.config.head == "pointer":
        memory = HeadMemory(hidden[:, :count], ids[:, :count], torch.ones(1, count, dtype=torch.bool))
    return model.next_token(hidden[:, -1], memory).logprobs[0]


@BOTH
def test_greedy_equals_a_loop_without_a_cache(config: DecoderConfig) -> None:
    model = build(config)
    answer: tuple[int, ...] = ()
    for _ in range(10):
        answer = (*answer, int(uncached(model, PROMPT, answer).argmax()))
    (found,) = decode(model, PROMPT, SamplingParams(max_tokens=10), (0,), NONE)
    assert found.token_ids == answer
    assert found.finish_reason == "length"


@BOTH
def test_each_of_many_samples_equals_the_one_drawn_alone(config: DecoderConfig) -> None:
    """A batched product may round its last bit differently from a single one. A token then differs only if the uniform
    is within about 1e-6 of a step of the distribution, which these fixed seeds avoid."""
    model, seeds = build(config), (*range(8), 2**63 - 1)
    together = decode(model, PROMPT, WARM, seeds, frozenset((5,)))
    for seed, sample in zip(seeds, together, strict=True):
        (alone,) = decode(model, PROMPT, WARM, (seed,), frozenset((5,)))
        assert sample.token_ids == alone.token_ids
        assert sample.finish_reason == alone.finish_reason
        assert sample.token_logprobs == pytest.approx(alone.token_logprobs, abs=1e-5)
        assert [[s.position for s in place] for place in sample.sources] == [
            [s.position for s in place] for place in alone.sources
        ]
    assert len({sample.token_ids for sample in together}) > 5


@BOTH
def test_order_and_company_of_seeds_do_not_matter(config: DecoderConfig) -> None:
    model = build(config)
    forward = decode(model, PROMPT, WARM, (1, 2, 3, 2), NONE)
    backward = decode(model, PROMPT, WARM, (2, 3, 1), NONE)
    assert [s.token_ids for s in forward[:3]] == [backward[i].token_ids for i in (2, 0, 1)]
    assert forward[1] == forward[3]


@BOTH
def test_a_finished_sample_does_not_disturb_the_others(config: DecoderConfig) -> None:
    model, seeds = build(config), tuple(range(12))
    free = decode(model, PROMPT, WARM, seeds, NONE)
    ends = frozenset((free[0].token_ids[0], free[1].token_ids[3]))
    ended = decode(model, PROMPT, WARM, seeds, ends)
    assert ended[0].token_ids == ()
    assert ended[0].finish_reason == "stop"
    for before, after in zip(free, ended, strict=True):
        cut = next((i for i, token in enumerate(before.token_ids) if token in ends), None)
        assert after.token_ids == before.token_ids[:cut]
        assert after.finish_reason == ("length" if cut is None else "stop")
        assert len(after.token_logprobs) == len(after.sources) == len(after.token_ids)
    assert {s.finish_reason for s in ended} == {"stop", "length"}


@BOTH
def test_logprobs_are_the_models_at_temperature_one_before_truncation(config: DecoderConfig) -> None:
    model = build(config)
    params = SamplingParams(temperature=0.4, top_k=3, top_p=0.8, max_tokens=5)
    for sample in decode(model, PROMPT, params, (0, 1), NONE):
        for index, (token, logprob) in enumerate(zip(sample.token_ids, sample.token_logprobs, strict=True)):
            expected = uncached(model, PROMPT, sample.token_ids[:index])[token]
            assert logprob == pytest.approx(float(expected), abs=1e-4)


@BOTH
def test_one_token_and_the_end_of_the_context(config: DecoderConfig) -> None:
    model = build(config)
    one = decode(model, PROMPT, SamplingParams(max_tokens=1), (0, 1), NONE)
    assert [len(s.token_ids) for s in one] == [1, 1]
    # The last token is predicted and never read: 24 positions are 7 of the prompt and 17 that are read.
    (full,) = decode(model, PROMPT, SamplingParams(max_tokens=500), (0,), NONE)
    assert len(full.token_ids) == 24 - 7 + 1
    assert full.finish_reason == "length"
    longest = tuple(range(24))
    assert len(decode(model, longest, WARM, (0, 1), NONE)[1].token_ids) == 1
    with pytest.raises(ModelError, match=r"25.*24"):
        decode(model, (*longest, 1), WARM, (0,), NONE)
    assert decode(model, PROMPT, WARM, (), NONE) == ()


@BOTH
def test_a_stop_callback_sees_what_was_drawn_and_ends_that_sample_only(config: DecoderConfig) -> None:
    model = build(config)
    free = decode(model, PROMPT, WARM, (0, 1), NONE)
    seen: list[DecodedTokens] = []

    def stopped(drawn: DecodedTokens) -> bool:
        seen.append(drawn)
        return drawn.token_ids == free[0].token_ids[:3]

    found = decode(model, PROMPT, WARM, (0, 1), NONE, stopped=stopped)
    assert found[0].token_ids == free[0].token_ids[:3]  # the token at which it stopped is included
    assert found[0].finish_reason == "stop"
    assert found[1] == free[1]
    assert all(len(d.sources) == len(d.token_ids) == len(d.token_logprobs) for d in seen)
    assert max(len(d.token_ids) for d in seen if d.token_ids[:1] == free[0].token_ids[:1]) >= 3


def test_copy_sources_hold_the_token_and_share_at_most_one() -> None:
    model = build(PREFIX)
    shares = []
    for sample in decode(model, PROMPT, WARM, tuple(range(20)), NONE, first_copyable_id=5):
        for token, places in zip(sample.token_ids, sample.sources, strict=True):
            assert all(PROMPT[place.position] == token and token >= 5 for place in places)
            assert [p.share for p in places] == sorted((p.share for p in places), reverse=True)
            assert sum(p.share for p in places) <= 1 + 1e-5
            shares.extend(p.share for p in places)
    assert max(shares) > 0.1  # something was copied
    assert not any(any(s.sources) for s in decode(build(LLAMA), PROMPT, WARM, (0, 1), NONE))


def test_of_the_markers_only_the_null_token_may_be_pointed_at() -> None:
    model, prompt = build(PREFIX), (2, 1, 7, 9, 1)
    ids = torch.tensor([prompt])
    for null_id, allowed in ((None, {2, 3}), (2, {0, 2, 3})):
        pointed: set[int] = set()
        for sample in decode(model, prompt, WARM, tuple(range(40)), NONE, first_copyable_id=5, null_id=null_id):
            pointed |= {place.position for places in sample.sources for place in places}
        assert pointed == allowed
        assert {i for i, c in enumerate(copyable_tokens(ids, 5, null_id)[0].tolist()) if c} == allowed


@BOTH
def test_damaged_weights_are_an_error_not_an_answer(config: DecoderConfig) -> None:
    model = build(config)
    model.blocks[0].mlp_norm.weight[3] = float("nan")  # type: ignore[union-attr,index,operator]
    with pytest.raises(GenerationError, match="NaN"):
        decode(model, PROMPT, WARM, (0, 1), NONE)
