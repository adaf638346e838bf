"""Streamed answers: the joined pieces are the text, and a cancellation closes the connection in any state."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from generation.completion import TextDelta
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError, UnavailableError
from generation.generator import GenerationTask
from generation.live import EngineGenerator, FinishedRequest, LiveGenerator
from retrieval.chunking.chunks import RetrievedChunk

Make = Callable[..., Any]
_WAIT_S = 120


def task(generator: Any, seeds: tuple[int, ...] = (0,), chunks: Any = (), **params: Any) -> GenerationTask:
    return GenerationTask(generator.prompt("What?", chunks, 5), SamplingParams(**{"max_tokens": 5, **params}), seeds)


class Heard:
    """A listener that records its events, and can be waited for."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[TextDelta | FinishedRequest | Exception] = queue.SimpleQueue()

    def next(self) -> TextDelta | FinishedRequest | Exception:
        return self.events.get(timeout=_WAIT_S)

    def all(self) -> tuple[list[TextDelta], FinishedRequest]:
        pieces: list[TextDelta] = []
        while isinstance(found := self.next(), TextDelta):
            pieces.append(found)
        if isinstance(found, Exception):
            raise found
        assert self.events.empty()
        return pieces, found


def listen(generator: Any, asked: GenerationTask) -> tuple[list[TextDelta], FinishedRequest]:
    heard = Heard()
    generator.begin(asked, heard.events.put)
    return heard.all()


def spoken(text: str, logprob: float | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    if logprob is not None:
        choice["logprobs"] = {"content": [{"token": text, "logprob": logprob}]}
    return {"choices": [choice]}


def usage(prompt: int, drawn: int) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": drawn}}


class Held:
    """A stream that sends given events and then waits until the client disconnects."""

    def __init__(self, *data: bytes) -> None:
        self.data = data
        self.asked = threading.Event()
        self.left = threading.Event()

    def __call__(self, handler: Any, _: object) -> None:
        if self.data:
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.end_headers()
        for piece in self.data:
            handler.wfile.write(b"data: " + piece + b"\n\n")
            handler.wfile.flush()
        self.asked.set()
        handler.connection.recv(1)  # empty when the other side is closed
        self.left.set()
        handler.close_connection = True


HALF = b'{"choices": [{"delta": {"content": "Half an"}}]}'


def test_text_is_heard_before_the_answer_has_ended(server: Any, wire: Any, remote: Make) -> None:
    gate = threading.Event()

    def slowly(handler: Any, _: object) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.wfile.write(b"data: " + HALF + b"\n\n")
        handler.wfile.flush()
        assert gate.wait(_WAIT_S)
        end = b'data: {"choices": [{"delta": {"content": " answer"}, "finish_reason": "stop"}]}\n\n'
        handler.wfile.write(end + b"data: [DONE]\n\n")
        handler.close_connection = True

    server.script = [slowly]
    generator = remote(logprobs=False)
    assert isinstance(generator, LiveGenerator)
    assert not isinstance(generator, EngineGenerator)
    heard = Heard()
    generator.begin(task(generator), heard.events.put)
    assert heard.next() == TextDelta("Half an", 0)
    gate.set()
    pieces, drawn = heard.all()
    assert "".join(piece.text for piece in pieces) == " answer"
    assert drawn.completions[0].text == "Half an answer"


def test_it_ends_with_the_completion_that_generate_gives(server: Any, wire: Any, remote: Make) -> None:
    generator = remote()
    whole = wire.chat(
        " a  b ",
        usage={"prompt_tokens": 7, "completion_tokens": 3},
        logprobs={"content": [{"logprob": value} for value in (-0.5, -0.25, 0.0)]},
    )
    server.script = [wire.reply(200, whole)]
    (expected,) = generator.generate(generator.prompt("What?", [], 5), SamplingParams(max_tokens=5), (3,))
    server.script = [
        wire.events(
            wire.piece(None), spoken(" a ", -0.5), spoken(" b", -0.25), spoken(" ", 0.0), wire.piece(None, "stop"),
            usage(7, 3),
        )
    ]  # fmt: skip
    pieces, drawn = listen(generator, task(generator, (3,)))
    assert drawn.completions == (expected,)
    assert "".join(piece.text for piece in pieces) == expected.text == "a  b"
    body = server.requests[-1]
    assert (body["stream"], body["stream_options"], body["seed"]) == (True, {"include_usage": True}, 3)
    server.script = [wire.events(spoken("a", -0.5), spoken("b"), wire.piece(None, "stop"))]
    (partly,) = listen(generator, task(generator))[1].completions
    assert partly.token_logprobs == ()
    assert "sent none" in partly.logprobs_missing
    server.script = [wire.reply(200, whole)]  # a server that does not stream
    assert listen(generator, task(generator, (3,)))[1].completions == (expected,)


def test_samples_are_told_apart_and_come_in_the_order_of_their_seeds(server: Any, wire: Any, remote: Make) -> None:
    def by_seed(handler: Any, body: dict[str, Any]) -> None:
        wire.events(spoken(f"seed {body['seed']}"), wire.piece(None, "length"))(handler, body)

    server.script = [by_seed]
    generator = remote(logprobs=False, parallel=2)
    pieces, drawn = listen(generator, task(generator, (5, 6, 7)))
    assert [completion.text for completion in drawn.completions] == ["seed 5", "seed 6", "seed 7"]
    assert {completion.finish_reason for completion in drawn.completions} == {"length"}
    for sample, completion in enumerate(drawn.completions):
        assert "".join(piece.text for piece in pieces if piece.sample == sample) == completion.text


def test_a_stop_string_hangs_up(server: Any, remote: Make) -> None:
    held = Held(HALF)
    server.script = [held]
    generator = remote(logprobs=False)
    pieces, drawn = listen(generator, task(generator, stop=("f an",)))
    assert (drawn.completions[0].text, drawn.completions[0].finish_reason) == ("Hal", "stop")
    assert "".join(piece.text for piece in pieces) == "Hal"
    assert held.left.wait(_WAIT_S)


@pytest.mark.parametrize("data", [(), (HALF,)], ids=["before-the-answer", "in-the-middle"])
def test_cancelling_shuts_the_connection_whatever_it_waits_for(
    server: Any, remote: Make, data: tuple[bytes, ...]
) -> None:
    held = Held(*data)
    server.script = [held]
    generator = remote(logprobs=False, read_s=_WAIT_S, retries=5)
    heard = Heard()
    begun = generator.begin(task(generator, (0, 1)), heard.events.put)
    assert held.asked.wait(_WAIT_S)
    begun.cancel()
    assert held.left.wait(_WAIT_S)
    _, drawn = heard.all()
    assert {completion.finish_reason for completion in drawn.completions} == {"cancelled"}
    assert len(server.requests) <= 2  # nothing was retried
    begun.cancel()


def test_cancelling_ends_a_wait_between_two_attempts(server: Any, wire: Any, remote: Make) -> None:
    refused = threading.Event()

    def busy(handler: Any, body: dict[str, Any]) -> None:
        wire.reply(503, {"error": "busy"}, retry_after="300")(handler, body)
        refused.set()

    server.script = [busy]
    generator = remote(logprobs=False)
    heard = Heard()
    begun = generator.begin(task(generator), heard.events.put)
    assert refused.wait(_WAIT_S)
    begun.cancel()
    assert heard.all()[1].completions[0].finish_reason == "cancelled"
    assert len(server.requests) == 1


def test_at_the_deadline_what_has_come_is_the_answer(server: Any, remote: Make) -> None:
    held = Held(HALF)
    server.script = [held]
    generator = remote(logprobs=False, read_s=_WAIT_S)
    _, drawn = listen(generator, task(generator, deadline_seconds=0.5))
    assert (drawn.completions[0].text, drawn.completions[0].finish_reason) == ("Half an", "deadline")
    assert held.left.wait(_WAIT_S)


def test_one_samples_failure_is_heard_once_and_ends_the_others(server: Any, wire: Any, remote: Make) -> None:
    held = Held(HALF)

    def by_seed(handler: Any, body: dict[str, Any]) -> None:
        if body["seed"] == 0:
            held(handler, body)
        else:
            assert held.asked.wait(_WAIT_S)
            wire.events(spoken("x"), {"error": {"message": "worker died"}})(handler, body)

    server.script = [by_seed]
    heard = Heard()
    generator = remote(logprobs=False)
    generator.begin(task(generator, (0, 1)), heard.events.put)
    with pytest.raises(UnavailableError, match="worker died"):
        heard.all()
    assert held.left.wait(_WAIT_S)
    assert heard.events.empty()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["Half", None], "finish reason"),
        (["{nonsense"], "not JSON"),
        ([[1]], "object"),
        ([{"choices": [{"delta": {"content": "x"}, "finish_reason": "content_filter"}]}], "content_filter"),
    ],
)
def test_nonsense_is_an_error(server: Any, wire: Any, remote: Make, script: list[Any], message: str) -> None:
    data = [spoken(item) if item == "Half" else item for item in script if item is not None]
    server.script = [wire.events(*data, done=False)]
    generator = remote(logprobs=False)
    with pytest.raises(UnavailableError, match=message):
        listen(generator, task(generator))


def test_a_prompt_that_is_too_long_loses_its_last_chunks(
    server: Any, wire: Any, remote: Make, chunk: Callable[..., RetrievedChunk]
) -> None:
    long = wire.reply(400, {"error": {"message": "maximum context length exceeded"}})
    server.script = [long, wire.events(spoken("yes [1]"), wire.piece(None, "stop"))]
    generator = remote(logprobs=False)
    (completion,) = listen(generator, task(generator, chunks=[chunk("One."), chunk("Two.", rank=2)]))[1].completions
    assert [citation.number for citation in completion.citations] == [1]
    assert "Two." in str(server.requests[0]) and "Two." not in str(server.requests[1])


def test_a_server_that_does_not_know_stream_options_is_asked_without(server: Any, wire: Any, remote: Make) -> None:
    unknown = wire.reply(400, {"error": {"message": "Unrecognized request argument: stream_options"}})
    server.script = [unknown, wire.events(spoken("yes"), wire.piece(None, "stop"))]
    generator = remote(logprobs=False)
    for _ in range(2):
        assert listen(generator, task(generator))[1].completions[0].text == "yes"
    assert [("stream_options" in body) for body in server.requests] == [True, False, False]


def test_several_samples_by_the_servers_own_n_come_whole(server: Any, wire: Any, remote: Make) -> None:
    choices = [{"index": n, "message": {"content": f"answer {n}"}, "finish_reason": "stop"} for n in (1, 0)]
    server.script = [wire.reply(200, {"choices": choices})]
    generator = remote(logprobs=False, one_request=True)
    pieces, drawn = listen(generator, task(generator, (0, 1)))
    assert [completion.text for completion in drawn.completions] == ["answer 0", "answer 1"]
    assert pieces == [TextDelta("answer 0", 0), TextDelta("answer 1", 1)]
    assert server.requests[0]["n"] == 2


def test_closing_hangs_up_on_what_is_under_way(server: Any, remote: Make) -> None:
    held = Held(HALF)
    server.script = [held]
    generator = remote(logprobs=False, read_s=_WAIT_S)
    heard = Heard()
    generator.begin(task(generator), heard.events.put)
    assert held.asked.wait(_WAIT_S)
    generator.close()
    assert held.left.wait(_WAIT_S)
    with pytest.raises((GenerationError, RuntimeError)):
        generator.begin(task(generator), heard.events.put)
