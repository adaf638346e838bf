"""Refused features are omitted, broken streams are requested again, and samples keep their order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from generation.completion import Completion, TextDelta
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError, GenerationError, UnavailableError
from generation.generator import GenerationTask, QueueingGenerator
from generation.live import FinishedRequest, LiveEvent
from retrieval.chunking.chunks import Chunk, RetrievedChunk

Make = Callable[..., Any]
PARAMS = SamplingParams(max_tokens=5)
NO_LOGPROBS = {"error": {"message": "logprobs is not supported for models created with logits_all=False"}}
TOO_LONG = {
    "error": {"message": "This model's maximum context length is 64 tokens.", "code": "context_length_exceeded"}
}


def ask(generator: Any, chunks: Any = (), seed: int = 0) -> Completion:
    found = generator.generate(generator.prompt("When?", chunks, 5), PARAMS, (seed,))[0]
    assert isinstance(found, Completion)
    return found


def listen(generator: Any, chunks: Any = ()) -> tuple[str, Completion]:
    heard: queue.SimpleQueue[LiveEvent] = queue.SimpleQueue()
    generator.begin(GenerationTask(generator.prompt("When?", chunks, 5), PARAMS, (0,)), heard.put)
    text = ""
    while not isinstance(event := heard.get(timeout=60), FinishedRequest):
        if isinstance(event, Exception):
            raise event
        text += event.text if isinstance(event, TextDelta) else ""
    return text, event.completions[0]


def broken(handler: Any, _: object) -> None:
    """Accept a stream and close it without an event."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.close_connection = True


@pytest.mark.parametrize("status", [400, 422, 500, 501])
@pytest.mark.parametrize("streamed", [False, True])
def test_logprobs_that_are_refused_are_not_requested_again(
    server: Any, wire: Any, remote: Make, fake_time: Any, status: int, streamed: bool
) -> None:
    answer = wire.events(wire.piece("1871", "stop")) if streamed else wire.reply(200, wire.chat("1871"))
    server.script = [wire.reply(status, NO_LOGPROBS), answer]
    generator = remote()
    for _ in range(2):
        found = listen(generator)[1] if streamed else ask(generator)
        assert (found.text, found.token_logprobs) == ("1871", ())
        assert "logits_all=False" in found.logprobs_missing
    assert ["logprobs" in body for body in server.requests] == [True, False, False]
    assert not fake_time.slept  # nothing was retried


def test_a_server_that_refuses_what_was_not_requested(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(400, NO_LOGPROBS)]
    with pytest.raises(GenerationError, match="logits_all"):
        ask(remote(logprobs=False))


@pytest.mark.parametrize("clean", [False, True])
def test_a_stream_that_ends_before_its_first_event_is_requested_whole(
    server: Any, wire: Any, remote: Make, clean: bool
) -> None:
    server.script = [wire.events() if clean else broken, wire.reply(200, wire.chat("In 1871"))]
    assert listen(remote(logprobs=False))[0] == "In 1871"
    assert [body.get("stream", False) for body in server.requests] == [True, False]


def test_the_reason_of_a_broken_stream_is_found_and_obeyed(server: Any, wire: Any, remote: Make) -> None:
    """llama-cpp-python detects a long prompt only while it streams."""
    chunks = [RetrievedChunk(Chunk(f"d{n}", 0, 4, "Text", ""), 1.0, n) for n in (1, 2)]
    server.script = [broken, wire.reply(400, TOO_LONG), wire.reply(200, wire.chat("In 1871 [1] [2]"))]
    text, completion = listen(remote(logprobs=False), chunks)
    assert text == completion.text == "In 1871 [1] [2]"
    assert [citation.number for citation in completion.citations] == [1]
    server.script = [broken, wire.reply(400, TOO_LONG)]
    with pytest.raises(ContextLengthError, match="64 tokens"):
        listen(remote(logprobs=False))


def test_a_cancelled_request_is_not_requested_whole(server: Any, wire: Any, remote: Make) -> None:
    heard: queue.SimpleQueue[LiveEvent] = queue.SimpleQueue()
    generator = remote(logprobs=False)

    ready = threading.Event()

    def hang_up(handler: Any, body: object) -> None:
        assert ready.wait(60)
        request.cancel()
        broken(handler, body)

    server.script = [hang_up]
    task = GenerationTask(generator.prompt("When?", (), 5), PARAMS, (0,))
    request = generator.begin(task, heard.put)
    ready.set()
    event = heard.get(timeout=60)
    assert isinstance(event, FinishedRequest), event
    assert (event.completions[0].finish_reason, event.completions[0].text) == ("cancelled", "")
    assert len(server.requests) == 1


def test_samples_of_one_question_follow_each_other(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("yes"))]
    generator = remote(parallel=1, logprobs=False)
    assert isinstance(generator, QueueingGenerator)
    tasks = [GenerationTask(generator.prompt(f"Is {n}?", (), 5), PARAMS, (1, 2, 3)) for n in range(3)]
    waiting = [generator.submit_many([task]) for task in tasks]
    assert [len(pending.result()[0]) for pending in waiting] == [3, 3, 3]
    questions = [body["messages"][-1]["content"] for body in server.requests]
    assert questions == [question for question in questions[::3] for _ in range(3)]
    assert [body["seed"] for body in server.requests] == [1, 2, 3] * 3


def test_a_closed_generator_says_so(server: Any, wire: Any, remote: Make) -> None:
    def late(handler: Any, body: Any) -> None:
        server.released.wait(60)
        wire.reply(200, wire.chat("yes"))(handler, body)

    server.script = [late]
    generator = remote(parallel=1, logprobs=False)
    pending = generator.submit_many([GenerationTask(generator.prompt("Is it?", (), 5), PARAMS, (1, 2))])
    generator.close()
    server.released.set()
    with pytest.raises((UnavailableError, RuntimeError), match="closed"):
        pending.result()


def test_a_400_that_names_the_model_lists_the_known_ones(server: Any, wire: Any, remote: Make) -> None:
    server.script = [
        wire.reply(400, {"error": {"message": "The model `tny` does not exist", "code": "model_not_found"}})
    ]
    with pytest.raises(UnavailableError, match=r"'tny'.*tiny, other"):
        ask(remote(model="tny"))


def test_n_that_is_not_honoured(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("yes"))]
    generator = remote(one_request=True, logprobs=False)
    with pytest.raises(UnavailableError, match=r"1 choices for 3 .*ignores n"):
        generator.generate(generator.prompt("Is it?", (), 5), PARAMS, (1, 2, 3))
