"""Streamed reasoning over HTTP: `reasoning_content` in chat chunks, `thought` events of a query, never in answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from app.service.application import create_app
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.generator import GenerationTask
from generation.live import FinishedRequest, Listener, report
from generation.prompt import Prompt

THOUGHT, ANSWER = "They ask how long; [1] says it.", "three years"
WRITTEN = f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}"
QUESTION = "How long is the warranty of the Heron 4?"


class _Over:
    def cancel(self) -> None:
        return


@pytest.fixture
def writing(
    make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any
) -> Iterator[Callable[..., TestClient]]:
    """Function that makes a client of a service whose model writes a given text, two characters at a time if live."""

    class Writer(first_words):  # type: ignore[misc]
        def __init__(self, text: str) -> None:
            super().__init__()
            self.pieces = [text[start : start + 2] for start in range(0, len(text), 2)]

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            return self.write(seeds, lambda event: None)

        def write(self, seeds: Sequence[int], listener: Listener) -> tuple[Completion, ...]:
            drawn = []
            for sample, seed in enumerate(seeds):
                text = TextFilter(strip=True)
                for piece in self.pieces:
                    report(listener, sample, text, text.feed(piece))
                report(listener, sample, text, text.finish())
                drawn.append(Completion(text.text, (7,), (-0.5,), "stop", Usage(9, 4), seed, thought=text.thought))
            return tuple(drawn)

    class LiveWriter(Writer):
        def begin(self, task: GenerationTask, listener: Listener) -> _Over:
            listener(FinishedRequest(self.write(task.seeds, listener)))
            return _Over()

    with ExitStack() as stack:

        def make(text: str = WRITTEN, live: bool = True) -> TestClient:
            pipeline = make_pipeline(make_settings(home_copy), (LiveWriter if live else Writer)(text))
            return stack.enter_context(TestClient(create_app(pipeline)))

        yield make


def query(client: TestClient, **fields: Any) -> tuple[dict[int, str], dict[int, str], dict[str, Any]]:
    """Return the joined thoughts and texts by sample, and the event with the answers."""
    body = {"question": QUESTION, "collection": "notes", "stream": True, **fields}
    reply = client.post("/v1/query", json=body)
    assert reply.status_code == 200, reply.text[:500]
    joined: dict[str, dict[int, str]] = {"thought": {}, "text": {}}
    answers: dict[str, Any] = {}
    for name, data in re.findall(r"^event: (\w+)\ndata: (.*)\n\n", reply.text, re.MULTILINE):
        assert name != "error", data
        fields = json.loads(data)
        if name in joined:
            assert not answers, "a piece after the answers"
            joined[name][fields["sample"]] = joined[name].get(fields["sample"], "") + fields["text"]
        answers = fields if name == "answers" else answers
    return joined["thought"], joined["text"], answers


def chat(client: TestClient, **fields: Any) -> list[dict[str, Any]]:
    body = {"model": "notes", "messages": [{"role": "user", "content": QUESTION}], "stream": True, **fields}
    reply = client.post("/v1/chat/completions", json=body)
    assert reply.status_code == 200, reply.text[:500]
    events = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


def joined(chunks: Sequence[dict[str, Any]], field: str) -> str:
    return "".join(choice["delta"].get(field) or "" for chunk in chunks for choice in chunk["choices"])


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("style", ["short", "sentence"])
def test_a_query(writing: Callable[..., TestClient], live: bool, style: str) -> None:
    thoughts, texts, event = query(writing(live=live), n=2, temperature=1.0, style=style)
    assert thoughts == {0: THOUGHT, 1: THOUGHT}
    assert [answer["thought"] for answer in event["answers"]] == [THOUGHT, THOUGHT]
    assert texts == {sample: answer["text"] for sample, answer in enumerate(event["answers"])}
    assert all(ANSWER in text and "think" not in text for text in texts.values())


@pytest.mark.parametrize("live", [True, False])
def test_a_chat(writing: Callable[..., TestClient], live: bool) -> None:
    client = writing(live=live)
    chunks = chat(client)
    assert (joined(chunks, "reasoning_content"), joined(chunks, "content")) == (THOUGHT, ANSWER)
    assert "reasoning_content" not in chunks[-1]["choices"][0]["delta"]
    whole = client.post(
        "/v1/chat/completions", json={"model": "notes", "messages": [{"role": "user", "content": QUESTION}]}
    ).json()["choices"][0]["message"]
    assert (whole["reasoning_content"], whole["content"]) == (THOUGHT, ANSWER)


@pytest.mark.parametrize(
    ("written", "thought", "content"),
    [
        (f"<think>{THOUGHT}", THOUGHT, ""),
        ("The tag <think> opens a block.", "", "The tag <think> opens a block."),
        (ANSWER, "", ANSWER),
    ],
)
def test_open_tags_tags_in_prose_and_none(
    writing: Callable[..., TestClient], written: str, thought: str, content: str
) -> None:
    client = writing(written)
    chunks = chat(client)
    assert (joined(chunks, "reasoning_content"), joined(chunks, "content")) == (thought, content)
    thoughts, texts, _ = query(client)
    assert (thoughts.get(0, ""), texts.get(0, "")) == (thought, content)


def test_with_a_policy_reasoning_waits_like_the_text(writing: Callable[..., TestClient]) -> None:
    """A policy may withdraw the answer, which the reasoning would reveal."""
    client = writing()
    thoughts, texts, event = query(client, policy=["flag"])
    (answer,) = event["answers"]
    assert (thoughts, texts) == ({0: answer["thought"]}, {0: answer["text"]})
    chunks = chat(client, policy=["flag"])
    assert not joined(chunks[:-1], "content") and not joined(chunks[:-1], "reasoning_content")
    assert (joined(chunks, "reasoning_content"), joined(chunks, "content")) == (THOUGHT, answer["text"])


def test_an_answer_that_a_policy_withholds_takes_its_reasoning_along(writing: Callable[..., TestClient]) -> None:
    body = {"question": QUESTION, "collection": "notes", "policy": ["abstain"]}
    reply = writing(WRITTEN.replace(ANSWER, "Napoleon was born in Paris.")).post("/v1/query", json=body)
    (answer,) = reply.json()["answers"]
    assert "Napoleon" not in answer["text"] and answer["thought"] == ""


def test_verdicts_and_the_stored_answer_are_of_the_answer_alone(writing: Callable[..., TestClient]) -> None:
    reply = writing().post("/v1/query", json={"question": QUESTION, "collection": "notes", "verify": True}).json()
    (answer,) = reply["answers"]
    assert (answer["text"], answer["thought"], answer["annotations"]) == (ANSWER, THOUGHT, [])
    assert all(verdict["text"] in ANSWER for verdict in answer["verdicts"])


def test_openai_s_client_reads_it(writing: Callable[..., TestClient]) -> None:
    from openai import OpenAI

    client = writing()
    transport = client._transport
    with OpenAI(base_url="http://testserver/v1", api_key="none", http_client=httpx2.Client(transport=transport)) as ai:
        deltas = [
            chunk.choices[0].delta
            for chunk in ai.chat.completions.create(
                model="notes", messages=[{"role": "user", "content": QUESTION}], stream=True
            )
            if chunk.choices
        ]
    assert "".join(delta.content or "" for delta in deltas) == ANSWER
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == THOUGHT
