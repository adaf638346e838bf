"""Requests that are begun without waiting: many callers, cancellation before and during a request, and errors."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import pytest

from generation.decoding.loop import DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.front import EngineFront
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest, RequestResult
from generation.errors import GenerationError
from model.decoder.decoder import Decoder

Tiny = Callable[[str], Decoder]
Plainly = Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]
OPTIONS = EngineOptions(memory_bytes=1 << 18, cache_bytes=1 << 14, block=4)


def ask(*prompt: int, samples: int = 2, tokens: int = 9) -> EngineRequest:
    return EngineRequest(prompt, SamplingParams(temperature=1.0, max_tokens=tokens), tuple(range(samples)))


class Ending:
    """A callback for ``ended`` that can be waited for."""

    def __init__(self) -> None:
        self.calls: queue.SimpleQueue[RequestResult | Exception] = queue.SimpleQueue()

    def __call__(self, result: RequestResult | Exception) -> None:
        self.calls.put(result)

    def wait(self) -> RequestResult | Exception:
        found = self.calls.get(timeout=60)
        assert self.calls.empty()
        return found


def test_begun_requests_share_the_engine_with_those_who_wait(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    engine = Engine(model, OPTIONS)
    front, free = EngineFront(engine), engine.free_positions
    endings = [Ending() for _ in range(12)]
    waited: dict[int, tuple[DecodedTokens, ...]] = {}
    threads = [
        threading.Thread(target=lambda n=n: waited.update({n: front.run([ask(1, 2, 3, n)])[0].samples}))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for number, ending in enumerate(endings):
        front.begin(ask(1, 2, 3, number), ending)
    for thread in threads:
        thread.join()
    for number, ending in enumerate(endings):
        result = ending.wait()
        assert isinstance(result, RequestResult)
        expected = [s.token_ids for s in plainly(model, ask(1, 2, 3, number))]
        assert [s.token_ids for s in result.samples] == expected
        if number in waited:
            assert [s.token_ids for s in waited[number]] == expected
    assert engine.free_positions == free


def test_a_cancelled_one_ends_with_what_it_has(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), OPTIONS)
    front, free = EngineFront(engine), engine.free_positions
    begun, ending = threading.Event(), Ending()
    cancelled = threading.Event()

    def stopped(sample: int, drawn: DecodedTokens) -> bool:
        begun.set()
        assert cancelled.wait(timeout=60)  # the step waits until the request is cancelled
        return False

    request = EngineRequest((1, 2, 3), SamplingParams(temperature=1.0, max_tokens=30), (0,), stopped=stopped)
    running = front.begin(request, ending)
    assert begun.wait(timeout=60)
    running.cancel()
    running.cancel()
    cancelled.set()
    result = ending.wait()
    assert isinstance(result, RequestResult)
    assert result.samples[0].finish_reason == "cancelled"
    assert 1 <= len(result.samples[0].token_ids) <= 2
    assert engine.free_positions == free
    running.cancel()  # no effect


def test_cancelled_before_the_engine_saw_it(tiny: Tiny) -> None:
    front = EngineFront(Engine(tiny("llama"), OPTIONS))
    first, second = Ending(), Ending()
    holding, let_go = threading.Event(), threading.Event()

    def stopped(sample: int, drawn: DecodedTokens) -> bool:
        holding.set()
        assert let_go.wait(timeout=60)
        return True

    front.begin(EngineRequest((1, 2), SamplingParams(max_tokens=5), (0,), stopped=stopped), first)
    assert holding.wait(timeout=60)
    front.begin(ask(1, 2, 3), second).cancel()
    let_go.set()
    result = second.wait()
    assert isinstance(result, RequestResult)
    assert {s.finish_reason for s in result.samples} == {"cancelled"}
    assert isinstance(first.wait(), RequestResult)


def test_errors_reach_their_own_listener(tiny: Tiny) -> None:
    model = tiny("llama")
    front = EngineFront(Engine(model, OPTIONS))
    empty, good = Ending(), Ending()
    front.begin(ask(), empty)
    front.begin(ask(1, 2), good)
    refused = empty.wait()
    assert isinstance(refused, GenerationError)
    assert "no tokens" in str(refused)
    assert isinstance(good.wait(), RequestResult)
    weight = model.blocks[0].attention.out.weight  # type: ignore[union-attr]
    model.blocks[0].attention.out.weight = None  # type: ignore[union-attr,assignment]
    broken = Ending()
    front.begin(ask(1, 2), broken)
    assert isinstance(broken.wait(), TypeError)
    model.blocks[0].attention.out.weight = weight  # type: ignore[union-attr]
    again = Ending()
    front.begin(ask(1, 2, samples=0), again)
    found = again.wait()
    assert isinstance(found, RequestResult)
    assert found.samples == ()


@pytest.mark.parametrize("rounds", [50])
def test_the_worker_stops_and_starts_without_losing_anybody(tiny: Tiny, rounds: int) -> None:
    front = EngineFront(Engine(tiny("llama"), OPTIONS))
    for number in range(rounds):
        ending = Ending()
        front.begin(ask(1, number % 7, samples=1, tokens=1), ending)
        assert isinstance(ending.wait(), RequestResult)
