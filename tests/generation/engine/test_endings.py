"""The states that a copying head keeps count toward the memory and the cache, and are evicted with their prompt."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.prompt_pass import ending_bytes_per_position
from generation.engine.requests import EngineRequest
from generation.engine.sequences import PromptEnd
from generation.errors import GenerationError
from model.decoder.decoder import Decoder
from model.engine_state.arena import bytes_per_position

Tiny = Callable[[str], Decoder]
SHORT = SamplingParams(max_tokens=2)


def kept_bytes(engine: Engine) -> int:
    """Return the bytes of all cached prompts: keys, values and the tensors of their endings, except the last state."""
    total = 0
    for prompt in engine._admission._cache._exact.values():  # cached prompts belong to one owner
        total += prompt.own.length * bytes_per_position(engine._model.config, engine._model.dtype)
        ending = prompt.ending
        assert isinstance(ending, PromptEnd)
        for tensor in (ending.states, ending.token_ids, ending.keys):
            total += 0 if tensor is None else tensor.nbytes
    return total


@pytest.mark.parametrize("kind", ["llama", "prefix", "marked"])
def test_a_position_costs_what_is_kept_of_it(tiny: Tiny, kind: str) -> None:
    model = tiny(kind)
    engine = Engine(model, EngineOptions(memory_bytes=1 << 18, cache_bytes=1 << 18, block=4))
    engine.run([EngineRequest(tuple(range(3, 14)), SHORT, (0,))])
    each = bytes_per_position(model.config, model.dtype) + ending_bytes_per_position(model)
    assert kept_bytes(engine) == 11 * each
    assert (ending_bytes_per_position(model) > 0) == (kind != "llama")


@pytest.mark.parametrize("kind", ["prefix", "marked"])
def test_cached_prompts_stay_within_their_bytes(tiny: Tiny, kind: str) -> None:
    model = tiny(kind)
    each = bytes_per_position(model.config, model.dtype) + ending_bytes_per_position(model)
    # Two prompts of ten tokens fit. If only keys counted, a third one would fit.
    limit = 29 * each
    assert limit >= 30 * bytes_per_position(model.config, model.dtype)
    engine = Engine(model, EngineOptions(memory_bytes=1 << 18, cache_bytes=limit, block=4))
    prompts = [tuple((first + n) % 31 for n in range(10)) for first in range(6)]
    for prompt in prompts:
        engine.run([EngineRequest(prompt, SHORT, (0,))])
        assert kept_bytes(engine) <= limit
    cached = engine._admission._cache
    assert [cached.same(prompt) is not None for prompt in prompts] == [False] * 4 + [True] * 2
    engine.run([EngineRequest(prompts[4], SHORT, (0,)), EngineRequest(prompts[0], SHORT, (0,))])
    # The fifth was used again, so the sixth was evicted.
    assert [cached.same(prompt) is not None for prompt in prompts] == [True, False, False, False, True, False]


def test_memory_is_refused_with_all_that_a_position_costs(tiny: Tiny) -> None:
    model = tiny("prefix")
    each = bytes_per_position(model.config, model.dtype) + ending_bytes_per_position(model)
    engine = Engine(model, EngineOptions(memory_bytes=11 * each, cache_bytes=0))
    assert engine.free_positions == 10
    with pytest.raises(GenerationError, match=f"{11 * each}.*{10 * each}"):
        engine.submit(EngineRequest(tuple(range(10)), SHORT, (0,)))
    assert engine.run([EngineRequest(tuple(range(9)), SHORT, (0,))])[0].samples[0].token_ids


def test_an_end_beyond_the_vocabulary_is_no_error(tiny: Tiny) -> None:
    """Some checkpoints name such a token, and min_tokens excludes end tokens by ID."""
    model = tiny("llama")
    params = SamplingParams(max_tokens=4, min_tokens=3)
    known, unknown = (
        Engine(model, EngineOptions(memory_bytes=1 << 18)).run([EngineRequest((1, 2), params, (0,), ends)])[0].samples
        for ends in (frozenset((5,)), frozenset((5, 31, 99)))
    )
    assert known == unknown
    assert torch.isfinite(torch.tensor(known[0].token_logprobs)).all()
