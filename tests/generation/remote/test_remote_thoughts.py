"""A server's reasoning, in fields, parts or tags, streamed or not, is the thought and never the text."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import pytest

from generation.completion import Completion, TextDelta, ThoughtDelta
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask
from generation.live import FinishedRequest, LiveEvent

Make = Callable[..., Any]
THOUGHT, ANSWER = "They ask when; [1] says 1871.", "In 1871 [1]"
SMALL = SamplingParams(max_tokens=20)


def streamed(generator: Any, params: SamplingParams = SMALL) -> tuple[str, str, Completion]:
    """Return the joined reasoning, the joined text and the completion of one streamed sample."""
    heard: queue.SimpleQueue[LiveEvent] = queue.SimpleQueue()
    generator.begin(GenerationTask(generator.prompt("When?", [], 20), params, (0,)), heard.put)
    thought, text = "", ""
    while not isinstance(event := heard.get(timeout=60), FinishedRequest):
        if isinstance(event, Exception):
            raise event
        assert event.text
        thought += event.text if isinstance(event, ThoughtDelta) else ""
        text += event.text if isinstance(event, TextDelta) else ""
    return thought, text, event.completions[0]


def delta(finish: str | None = None, **fields: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_a_field_of_its_own(server: Any, wire: Any, remote: Make, field: str) -> None:
    generator = remote(logprobs=False)
    pieces = [
        delta(role="assistant", content="", **{field: ""}),
        delta(**{field: "\nThey ask when; "}),
        delta(content=None, **{field: "[1] says 1871."}),
        delta(**{field: "\n"}),
        delta(content="\n\nIn 1871"),
        delta(content=" [1]", **{field: None}),
        delta("stop"),
    ]
    server.script = [wire.events(*pieces)]
    thought, text, completion = streamed(generator)
    assert (thought, text) == (completion.thought, completion.text) == (THOUGHT, ANSWER)
    message = {"role": "assistant", "content": f"\n\n{ANSWER}", field: f"\n{THOUGHT}\n"}
    server.script = [wire.reply(200, wire.chat("", message=message))]
    (whole,) = generator.generate(generator.prompt("When?", [], 20), SMALL, (0,))
    assert (whole.thought, whole.text) == (THOUGHT, ANSWER)
    assert [citation.number for citation in whole.citations] == []  # no passage is shown


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("content", "thought", "text"),
    [
        (f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}", THOUGHT, ANSWER),
        (f"<think>{THOUGHT}", THOUGHT, ""),
        ("<think>One</think> a <think>two</think> b", "Onetwo", "a  b"),
        (
            "The tag <think> opens a block; </think> closes it.",
            "",
            "The tag <think> opens a block; </think> closes it.",
        ),
        ("<think>a < b <i>and</i> </thin", "a < b <i>and</i> </thin", ""),
        ("Use `<think>` here.", "", "Use `<think>` here."),
    ],
)
def test_tags_in_the_content(
    server: Any, wire: Any, remote: Make, content: str, thought: str, text: str, size: int
) -> None:
    pieces = [wire.piece(content[start : start + size]) for start in range(0, len(content), size)]
    server.script = [wire.events(*pieces, wire.piece(None, "length"))]
    joined_thought, joined_text, completion = streamed(remote(logprobs=False))
    assert (joined_thought, joined_text) == (thought, text)
    assert (completion.thought, completion.text) == (thought, text)


def test_parts_of_the_kind_thinking(server: Any, wire: Any, remote: Make) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]
    server.script = [wire.events(wire.piece(parts), wire.piece(ANSWER), wire.piece(None, "stop"))]
    thought, text, completion = streamed(remote(logprobs=False))
    assert (thought, text) == (completion.thought, completion.text) == (THOUGHT, ANSWER)


def test_reasoning_that_took_all_tokens_is_an_empty_answer(server: Any, wire: Any, remote: Make) -> None:
    """This is also the result of a local model that does not close its tag."""
    generator = remote(logprobs=False)
    message = {"role": "assistant", "content": None, "reasoning_content": THOUGHT}
    server.script = [wire.reply(200, wire.chat("", "length", message=message))]
    (whole,) = generator.generate(generator.prompt("When?", [], 20), SMALL, (0,))
    assert (whole.text, whole.thought, whole.finish_reason) == ("", THOUGHT, "length")
    server.script = [wire.events(delta(reasoning_content=THOUGHT), delta("length"))]
    assert streamed(generator)[2] == whole


def test_a_stop_string_ends_a_stream_in_its_reasoning_too(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.events(*map(wire.piece, ["<think>one ST", "OP two</think>", "three"]), done=False)]
    thought, text, completion = streamed(remote(logprobs=False), SamplingParams(max_tokens=20, stop=("STOP",)))
    assert (thought, text, completion.finish_reason) == ("one", "", "stop")


@pytest.mark.parametrize("wrong", [7, {"text": "x"}, ["x"], True])
def test_a_field_that_is_no_text_is_no_reasoning(server: Any, wire: Any, remote: Make, wrong: object) -> None:
    server.script = [wire.events(delta(content=ANSWER, reasoning_content=wrong), delta("stop"))]
    assert streamed(remote(logprobs=False))[:2] == ("", ANSWER)


def test_half_surrogates_in_reasoning_are_replaced(server: Any, wire: Any, remote: Make) -> None:
    message = {"content": "yes", "reasoning_content": "a\ud800b"}
    server.script = [wire.reply(200, wire.chat("", message=message))]
    generator = remote()
    (answer,) = generator.generate(generator.prompt("When?", [], 20), SMALL, (0,))
    assert answer.thought == "a\ufffdb"
