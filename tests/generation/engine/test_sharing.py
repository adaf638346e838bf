"""Shared prompts are read once, as the number of tokens shows, and results do not change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from generation.decoding.loop import DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.decoder import Decoder

Tiny = Callable[[str], Decoder]
Plainly = Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]
COMMON = (3, 7, 7, 19, 4, 7, 22, 2, 9, 7, 1, 8)


def ask(prompt: tuple[int, ...], temperature: float = 1.0, samples: int = 3) -> EngineRequest:
    return EngineRequest(prompt, SamplingParams(temperature=temperature, max_tokens=3), tuple(range(samples)))


def prompt_tokens_read(model: Decoder) -> list[int]:
    """Return a list to which the length of every later pass over prompts is appended."""
    seen: list[int] = []

    def note(_: torch.nn.Module, arguments: tuple[object, ...]) -> None:
        tokens = arguments[0]
        assert isinstance(tokens, torch.Tensor)
        if tokens.shape[0] == 1 and tokens.shape[1] > 1:
            seen.append(tokens.shape[1])

    model.register_forward_pre_hook(note)
    return seen


OPTIONS = EngineOptions(memory_bytes=1 << 18, cache_bytes=1 << 16, block=4, prefill_tokens=100)


@pytest.mark.parametrize("kind", ["llama", "prefix", "shipped"])
def test_samples_and_temperatures_share_one_prefill(tiny: Tiny, plainly: Plainly, kind: str) -> None:
    model = tiny(kind)
    requests = [ask(COMMON, temperature) for temperature in (0.0, 0.5, 1.0)]
    expected = [[s.token_ids for s in plainly(model, request)] for request in requests]
    read = prompt_tokens_read(model)
    engine = Engine(model, OPTIONS)
    results = engine.run(requests)
    assert read == [12]
    assert [r.shared_tokens for r in results] == [0, 12, 12]
    assert [[s.token_ids for s in r.samples] for r in results] == expected
    assert [[s.token_ids for s in r.samples] for r in engine.run(requests)] == expected
    assert read == [12]  # also for a later request


@pytest.mark.parametrize("invariant", [False, True])
def test_common_beginnings_are_read_once(tiny: Tiny, plainly: Plainly, invariant: bool) -> None:
    model = tiny("llama")
    options = EngineOptions(
        memory_bytes=1 << 18,
        cache_bytes=1 << 16,
        block=4,
        prefill_tokens=4 if invariant else 100,
        invariant=invariant,
    )
    prompts = [COMMON, (*COMMON[:9], 5, 6), (*COMMON, 1, 2, 3), COMMON[:8], (*COMMON[:9], 5, 6, 9, 9, 9)]
    expected = [[s.token_ids for s in plainly(model, ask(prompt))] for prompt in prompts]
    read = prompt_tokens_read(model)
    results = Engine(model, options).run([ask(prompt) for prompt in prompts])
    # Complete blocks of four are shared, and at least one token is read. The fourth is a prefix of the first.
    assert [r.shared_tokens for r in results] == [0, 8, 12, 4, 8]
    assert sum(read) >= 12 + 3 + 3 + 4 + 6 - 1
    assert [[s.token_ids for s in r.samples] for r in results] == expected


def test_a_prefix_decoder_shares_no_part(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("prefix")
    requests = [ask(COMMON), ask((*COMMON, 1)), ask(COMMON[:8])]
    expected = [[s.token_ids for s in plainly(model, request)] for request in requests]
    results = Engine(model, OPTIONS).run(requests)
    assert [r.shared_tokens for r in results] == [0, 0, 0]
    assert [[s.token_ids for s in r.samples] for r in results] == expected


def test_a_prefix_decoders_prompt_is_never_chunked(tiny: Tiny) -> None:
    model = tiny("prefix")
    read = prompt_tokens_read(model)
    Engine(model, EngineOptions(memory_bytes=1 << 18, prefill_tokens=2)).run([ask(COMMON), ask(COMMON[:5])])
    assert read == [12, 5]


def test_prompts_are_read_in_chunks_while_others_decode(tiny: Tiny) -> None:
    model = tiny("llama")
    engine = Engine(model, EngineOptions(memory_bytes=1 << 18, prefill_tokens=4, block=4))
    first = engine.submit(EngineRequest((1, 2), SamplingParams(max_tokens=30), (0,)))
    engine.step()
    engine.submit(ask(tuple(range(30))))
    for _ in range(7):  # 30 tokens take 8 chunks
        assert [(e.handle, e.token_id is not None) for e in engine.step()] == [(first, True)]
    assert len(engine.step()) == 4


def test_without_room_cached_prompts_give_way(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    need = 12 + 3 * 2
    engine = Engine(model, EngineOptions(memory_bytes=128 * (1 + need), cache_bytes=1 << 20, block=4))
    free = engine.free_positions
    for last in (1, 2, 1, 3):
        request = ask((*COMMON[:11], last))
        (result,) = engine.run([request])
        assert [s.token_ids for s in result.samples] == [s.token_ids for s in plainly(model, request)]
        assert engine.free_positions == free


def test_a_cached_prompt_amid_the_free_memory_is_no_deadlock(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    engine = Engine(model, EngineOptions(memory_bytes=128 * 41, cache_bytes=1 << 20, block=4))
    first, second = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    engine.run([ask(first, samples=1), ask(second, samples=1)])
    long = EngineRequest(second, SamplingParams(max_tokens=26), (0,))
    (result,) = engine.run([long])
    assert [s.token_ids for s in result.samples] == [s.token_ids for s in plainly(model, long)]
