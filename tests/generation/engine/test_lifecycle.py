"""Cancelled, late, queued and failing requests affect no other request, and free their memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from generation.decoding.loop import DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest, Handle
from generation.errors import GenerationError
from model.decoder.decoder import Decoder
from model.decoder.heads import LinearHead

Tiny = Callable[[str], Decoder]
Plainly = Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]
PROMPT = (3, 7, 7, 19, 4, 7, 22)
WARM = SamplingParams(temperature=1.0, max_tokens=8)
SMALL = EngineOptions(memory_bytes=1 << 17, cache_bytes=0, block=4, prefill_tokens=4)


def request(prompt: tuple[int, ...] = PROMPT, samples: int = 2, **changes: object) -> EngineRequest:
    return EngineRequest(prompt, WARM, tuple(range(samples)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["llama", "marked"])
@pytest.mark.parametrize("steps", range(9))
def test_cancelled_at_any_step(tiny: Tiny, plainly: Plainly, kind: str, steps: int) -> None:
    model = tiny(kind)
    engine = Engine(model, SMALL)
    free = engine.free_positions
    gone, stays = engine.submit(request(samples=3)), engine.submit(request((*PROMPT[:5], 9, 1)))
    for _ in range(steps):
        engine.step()
    engine.cancel(gone)
    engine.cancel(gone)  # the second call has no effect
    assert engine.rows <= 2
    while not engine.done(stays):
        engine.step()
    assert engine.free_positions == free
    assert [s.token_ids for s in engine.result(stays).samples] == [
        s.token_ids for s in plainly(model, request((*PROMPT[:5], 9, 1)))
    ]
    cut = engine.result(gone).samples
    for sample, full in zip(cut, plainly(model, request(samples=3)), strict=True):
        assert sample.token_ids == full.token_ids[: len(sample.token_ids)]
        assert sample.finish_reason in ("cancelled", full.finish_reason)
    with pytest.raises(GenerationError, match="no request 0"):
        engine.result(gone)


def test_a_deadline_ends_what_is_not_finished(tiny: Tiny) -> None:
    now = [0.0]
    engine = Engine(tiny("llama"), SMALL, clock=lambda: now[0])
    params = SamplingParams(temperature=1.0, max_tokens=8, deadline_seconds=5.0)
    late = engine.submit(EngineRequest(PROMPT, params, (0, 1)))
    other = engine.submit(request((1, 2, 3)))
    for _ in range(4):
        engine.step()
    now[0] = 5.0
    events = engine.step()
    assert [(e.sample, e.finish_reason) for e in events if e.handle == late] == [(0, "deadline"), (1, "deadline")]
    assert {s.finish_reason for s in engine.result(late).samples} == {"deadline"}
    while not engine.done(other):
        engine.step()
    assert {s.finish_reason for s in engine.result(other).samples} == {"length"}


def test_requests_wait_for_memory_in_order(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    need = 7 + 2 * 7
    engine = Engine(model, EngineOptions(memory_bytes=128 * (1 + 2 * need), cache_bytes=1 << 20, block=4))
    prompts = [(*PROMPT[:6], last) for last in range(5)]
    handles = [engine.submit(request(prompt)) for prompt in prompts]
    ended: list[Handle] = []
    while engine.busy:
        engine.step()
        assert engine.rows <= 5
        ended.extend(h for h in handles if engine.done(h) and h not in ended)
    assert ended == handles
    for handle, prompt in zip(handles, prompts, strict=True):
        expected = [s.token_ids for s in plainly(model, request(prompt))]
        assert [s.token_ids for s in engine.result(handle).samples] == expected


def test_what_can_never_be_served_is_refused(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), EngineOptions(memory_bytes=128 * 21, cache_bytes=0))
    for prompt, message in (
        ((), "no tokens"),
        ((1,) * 41, "41.*40"),
        ((1, 31), "token 31.*30"),
        ((1, -1), "token -1"),
        ((1,) * 14, "2688.*2560"),
    ):
        with pytest.raises(GenerationError, match=message):
            engine.submit(request(prompt))
    biased = EngineRequest(PROMPT, SamplingParams(logit_bias=((31, 1.0),)), (0,))
    with pytest.raises(GenerationError, match=r"logit_bias.*31"):
        engine.submit(biased)
    with pytest.raises(GenerationError, match=r"max_tokens.* 0\b"):
        SamplingParams(max_tokens=0)
    assert not engine.busy
    (result,) = engine.run([request((1,) * 13)])
    assert len(result.samples) == 2
    assert engine.run([request(samples=0)])[0].samples == ()


@pytest.mark.parametrize("kind", ["llama", "prefix"])
def test_nan_is_reported_and_fails_its_request_only(tiny: Tiny, plainly: Plainly, kind: str) -> None:
    model = tiny(kind)
    bad, good = request((*PROMPT, 30)), request((1, 2, 3, 4))
    biased = EngineRequest(good.prompt, SamplingParams(max_tokens=6, logit_bias=((30, -1e9),)), (0, 1))
    expected = [s.token_ids for s in plainly(model, biased)]
    model.embedding.weight[30] = float("nan")
    if kind == "prefix":  # the head is tied, so the token would be NaN for all requests
        model.embedding.weight[30] = 0.0
        model.positions.weight[7] = float("nan")  # type: ignore[union-attr]
        biased = EngineRequest(good.prompt, SamplingParams(max_tokens=3), (0, 1))
        expected = [s.token_ids for s in plainly(model, biased)]
    engine = Engine(model, SMALL)
    free = engine.free_positions
    failing, serving = engine.submit(bad), engine.submit(biased)
    while engine.busy:
        engine.step()
    with pytest.raises(GenerationError, match="NaN"):
        engine.result(failing)
    assert [s.token_ids for s in engine.result(serving).samples] == expected
    assert engine.free_positions == free


def test_a_stop_rule_that_breaks_fails_its_request_only(tiny: Tiny) -> None:
    def broken(sample: int, drawn: DecodedTokens) -> bool:
        raise KeyError(f"sample {sample} after {len(drawn.token_ids)}")

    engine = Engine(tiny("llama"), SMALL)
    failing, serving = engine.submit(request(stopped=broken)), engine.submit(request((1, 2)))
    while engine.busy:
        engine.step()
    with pytest.raises(KeyError, match="after 1"):
        engine.result(failing)
    assert len(engine.result(serving).samples[0].token_ids) == 8


def test_a_request_in_several_parts_fails_as_one_and_disturbs_nobody(tiny: Tiny, plainly: Plainly) -> None:
    def broken(sample: int, drawn: DecodedTokens) -> bool:
        if sample == 2:
            raise KeyError("no more")
        return False

    model = tiny("llama")
    engine = Engine(model, EngineOptions(memory_bytes=128 * 60, cache_bytes=0, block=4))
    # Five samples do not fit at once, so they are admitted in parts, between other requests.
    handles = [engine.submit(request((1, 2, 3))), engine.submit(request(samples=5, stopped=broken))]
    handles.append(engine.submit(request((4, 5))))
    while engine.busy:
        engine.step()
    with pytest.raises(KeyError):
        engine.result(handles[1])
    for handle, prompt in ((handles[0], (1, 2, 3)), (handles[2], (4, 5))):
        expected = [s.token_ids for s in plainly(model, request(prompt))]
        assert [s.token_ids for s in engine.result(handle).samples] == expected


def test_a_stop_rule_may_cancel_its_own_request(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), SMALL)
    free = engine.free_positions
    handles: list[Handle] = []

    def cancels(sample: int, drawn: DecodedTokens) -> bool:
        if len(drawn.token_ids) == 2:
            engine.cancel(handles[0])
        return False

    handles.append(engine.submit(request(stopped=cancels)))
    while engine.busy:
        engine.step()
    assert engine.free_positions == free
    assert {s.finish_reason for s in engine.result(handles[0]).samples} == {"cancelled"}


def test_a_stop_rule_ends_its_sample(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    full = plainly(model, request())
    (result,) = Engine(model, SMALL).run([request(stopped=lambda sample, d: sample == 1 and len(d.token_ids) == 3)])
    assert result.samples[0].token_ids == full[0].token_ids
    assert (result.samples[1].token_ids, result.samples[1].finish_reason) == (full[1].token_ids[:3], "stop")


class Greedy(Decoder):
    """A decoder that runs out of memory above a number of tokens."""

    limit = 1000

    def forward(self, token_ids: torch.Tensor, *arguments: object, **more: object) -> torch.Tensor:
        if token_ids.numel() > self.limit:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super().forward(token_ids, *arguments, **more)  # type: ignore[arg-type]


def test_out_of_memory_fails_the_youngest_and_the_others_go_on(tiny: Tiny, plainly: Plainly) -> None:
    plain = tiny("llama")
    model = Greedy(plain.config).eval().requires_grad_(False)
    model.load_state_dict(plain.state_dict())
    model.limit = 5
    engine = Engine(model, SMALL)
    free = engine.free_positions
    handles = [engine.submit(request((1, 2, last))) for last in (4, 5, 6)]
    while engine.busy:
        engine.step()
    model.limit = 1000
    for handle, last in zip(handles[:2], (4, 5), strict=True):
        expected = [s.token_ids for s in plainly(model, request((1, 2, last)))]
        assert [s.token_ids for s in engine.result(handle).samples] == expected
    with pytest.raises(GenerationError, match=r"out of memory.*3"):
        engine.result(handles[2])
    assert engine.free_positions == free
    model.limit = 3
    with pytest.raises(GenerationError, match="out of memory"):  # while the prompt is read
        engine.run([request()])
    assert engine.free_positions == free
    model.limit = 1000
    expected = [s.token_ids for s in plainly(model, request())]
    assert [s.token_ids for s in engine.run([request()])[0].samples] == expected


class Narrow(LinearHead):
    """A head that runs out of memory above a number of rows."""

    limit = 1000

    def logits(self, hidden: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        if hidden.shape[0] > self.limit:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super().logits(hidden, embedding)


def test_out_of_memory_while_drawing_fails_the_youngest_and_changes_no_draw(tiny: Tiny, plainly: Plainly) -> None:
    model = tiny("llama")
    expected = {last: [s.token_ids for s in plainly(model, request((1, 2, last)))] for last in (4, 5, 6)}
    head = Narrow(model.config)
    head.load_state_dict(model.head.state_dict())
    model.head = head
    engine = Engine(model, SMALL)
    free = engine.free_positions
    handles = [engine.submit(request((1, 2, last))) for last in (4, 5, 6)]
    engine.step()
    engine.step()  # all three have drawn a token
    head.limit = 5
    while engine.busy:
        engine.step()
    for handle, last in zip(handles[:2], (4, 5), strict=True):
        assert [s.token_ids for s in engine.result(handle).samples] == expected[last]
    with pytest.raises(GenerationError, match=r"out of memory.*3"):
        engine.result(handles[2])
    assert engine.free_positions == free
    head.limit = 1
    with pytest.raises(GenerationError, match="out of memory"):  # at the first token, with no other request left
        engine.run([request()])
    assert engine.free_positions == free


def test_an_interrupt_leaves_nothing_behind(tiny: Tiny) -> None:
    def interrupt(sample: int, drawn: DecodedTokens) -> bool:
        if len(drawn.token_ids) == 2:
            raise KeyboardInterrupt
        return False

    engine = Engine(tiny("llama"), SMALL)
    free = engine.free_positions
    with pytest.raises(KeyboardInterrupt):
        engine.run([request(stopped=interrupt), request((1, 2))])
    assert not engine.busy
    assert engine.free_positions == free
    assert len(engine.run([request()])[0].samples) == 2
