"""Several callers use one engine at once: some wait for results, some stream events."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from generation.decoding.loop import DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.front import EngineFront
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from generation.errors import GenerationError
from model.decoder.decoder import Decoder

Tiny = Callable[[str], Decoder]
Plainly = Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]
OPTIONS = EngineOptions(memory_bytes=1 << 18, cache_bytes=1 << 14, block=4)


def ask(*prompt: int, samples: int = 2, tokens: int = 9) -> EngineRequest:
    return EngineRequest(prompt, SamplingParams(temperature=1.0, max_tokens=tokens), tuple(range(samples)))


def test_many_threads_at_once(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    engine = Engine(model, OPTIONS)
    front, free = EngineFront(engine), engine.free_positions
    found: dict[int, tuple[DecodedTokens, ...]] = {}

    def work(number: int) -> None:
        request = ask(1, 2, 3, number)
        if number % 2:
            found[number] = front.run([request])[0].samples
            return
        stream = front.stream(request)
        tokens: list[list[int]] = [[], []]
        for event in stream:
            if event.token_id is not None:
                tokens[event.sample].append(event.token_id)
        found[number] = stream.result().samples
        assert [tuple(t) for t in tokens] == [s.token_ids for s in found[number]]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(12):
        expected = [s.token_ids for s in plainly(model, ask(1, 2, 3, number))]
        assert [s.token_ids for s in found[number]] == expected
    assert engine.free_positions == free


def test_a_cancelled_stream_ends_and_its_memory_is_free(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), OPTIONS)
    front, free = EngineFront(engine), engine.free_positions
    stream = front.stream(ask(1, 2, 3, tokens=37))
    for _ in stream:
        break
    stream.cancel()
    stream.cancel()
    assert engine.free_positions == free
    result = stream.result()
    assert result.samples[0].finish_reason in ("cancelled", "length")
    assert front.stream(ask(1, samples=0)).result().samples == ()


def test_errors_reach_who_asked(tiny: Tiny) -> None:
    model = tiny("llama")
    front = EngineFront(Engine(model, OPTIONS))
    for refused in (front.stream, lambda request: front.run([request])):
        with pytest.raises(GenerationError, match="no tokens"):
            refused(ask())
    good = front.stream(ask(1, 2))
    assert len(good.result().samples) == 2
    model.embedding.weight[9] = float("nan")
    with pytest.raises(GenerationError, match="NaN"):
        front.stream(ask(1, 9)).result()
    with pytest.raises(GenerationError, match="NaN"):
        front.run([ask(1, 2), ask(1, 9)])
    model.embedding.weight[9] = 0.0
    assert len(front.run([ask(1, 2)])[0].samples) == 2


def test_an_error_of_nobodys_fails_all_and_the_engine_goes_on(tiny: Tiny) -> None:
    model = tiny("llama")
    engine = Engine(model, OPTIONS)
    front, free = EngineFront(engine), engine.free_positions
    weight = model.blocks[0].attention.out.weight  # type: ignore[union-attr]
    model.blocks[0].attention.out.weight = None  # type: ignore[union-attr,assignment]
    with pytest.raises(TypeError):
        front.run([ask(1, 2)])
    with pytest.raises(TypeError):
        front.stream(ask(1, 2)).result()
    model.blocks[0].attention.out.weight = weight  # type: ignore[union-attr]
    assert engine.free_positions == free
    assert len(front.run([ask(1, 2)])[0].samples) == 2
