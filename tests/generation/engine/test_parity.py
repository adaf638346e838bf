"""The engine returns the results of the reference loop for any mixture of requests, in both modes."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from generation.decoding.loop import Calibration, DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest, TokenEvent
from model.decoder.decoder import Decoder

Tiny = Callable[[str], Decoder]
Plainly = Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]
COMMON = (3, 7, 7, 19, 4, 7, 22, 2, 9, 7)


def mixture(count: int, seed: int) -> list[EngineRequest]:
    """Return requests with shared and equal prompts, and different parameters, lengths and numbers of samples."""
    rng = random.Random(seed)
    out = []
    for number in range(count):
        rest = tuple(rng.randint(0, 30) for _ in range(rng.randint(0, 9)))
        prompt = COMMON if number % 5 == 0 else COMMON[: rng.randint(1, 10)] + rest
        params = SamplingParams(
            temperature=rng.choice([0.0, 0.7, 1.0]),
            top_k=rng.choice([None, 5]),
            top_p=rng.choice([1.0, 0.9]),
            repetition_penalty=rng.choice([1.0, 1.3]),
            logit_bias=rng.choice([(), ((4, 2.0),)]),
            min_tokens=rng.choice([0, 1]),
            top_logprobs=rng.choice([0, 2]),
            max_tokens=rng.randint(1, 12),
        )
        calibration = rng.choice([Calibration(), Calibration(1.5, (7, -0.5))])
        seeds = tuple(rng.randrange(10**6) for _ in range(rng.randint(0, 4)))
        out.append(
            EngineRequest(
                prompt, params, seeds, frozenset((5,)), first_copyable_id=6, null_id=3, calibration=calibration
            )
        )
    return out


def options(invariant: bool, rows: int = 20) -> EngineOptions:
    return EngineOptions(
        memory_bytes=1 << 19,
        cache_bytes=1 << 16,
        block=4,
        prefill_tokens=4 if invariant else 6,
        invariant=invariant,
        max_rows=rows,
    )


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("kind", ["llama", "window", "prefix", "marked", "shipped"])
def test_a_mixture_of_requests(tiny: Tiny, plainly: Plainly, kind: str, invariant: bool) -> None:
    model, requests = tiny(kind), mixture(16, 1)
    engine = Engine(model, options(invariant))
    free = engine.free_positions
    handles, events = [], []
    for request in requests:  # one request joins at every step
        handles.append(engine.submit(request))
        events.extend(engine.step())
    events.extend(engine.events())
    for handle, request in zip(handles, requests, strict=True):
        found = engine.result(handle).samples
        for sample, reference in zip(found, plainly(model, request), strict=True):
            assert sample.token_ids == reference.token_ids
            assert sample.finish_reason == reference.finish_reason
            assert sample.token_logprobs == pytest.approx(reference.token_logprobs, abs=2e-4)
            assert [[p.position for p in s] for s in sample.sources] == [
                [p.position for p in s] for s in reference.sources
            ]
            assert [[t for t, _ in top] for top in sample.top_logprobs] == [
                [t for t, _ in top] for top in reference.top_logprobs
            ]
    assert engine.free_positions == free
    assert not engine.busy
    check_events(events, handles, requests)


def check_events(events: list[TokenEvent], handles: list[object], requests: list[EngineRequest]) -> None:
    """Check that the events of each sample are its tokens in order, and one end."""
    for handle, request in zip(handles, requests, strict=True):
        for index in range(len(request.seeds)):
            mine = [e for e in events if e.handle == handle and e.sample == index]
            assert [e.finish_reason is not None for e in mine] == [False] * (len(mine) - 1) + [True]
            assert all(e.token_id is not None for e in mine[:-1])


@pytest.mark.parametrize("kind", ["llama", "prefix"])
def test_to_the_end_of_the_context(tiny: Tiny, plainly: Plainly, kind: str) -> None:
    model = tiny(kind)
    requests = [
        EngineRequest(tuple(range(length % 31)) + (1,) * (length - length % 31), SamplingParams(max_tokens=99), (0, 1))
        for length in (1, 7, 39, 40)
    ]
    for request, result in zip(requests, Engine(model, options(False)).run(requests), strict=True):
        assert len(result.samples[1].token_ids) == 40 - len(request.prompt) + 1
        assert [s.token_ids for s in result.samples] == [s.token_ids for s in plainly(model, request)]


def test_more_samples_than_rows_and_memory(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    request = EngineRequest(COMMON, SamplingParams(temperature=1.0, max_tokens=9), tuple(range(50)))
    small = EngineOptions(memory_bytes=(1 + 10 + 8 * 5) * 128, cache_bytes=0, block=4, prefill_tokens=3, max_rows=7)
    (result,) = Engine(model, small).run([request])
    assert [s.token_ids for s in result.samples] == [s.token_ids for s in plainly(model, request)]
