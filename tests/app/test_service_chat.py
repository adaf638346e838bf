"""OpenAI-compatible endpoints on a small real pipeline: completions, chunks, models, rejected requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.openai.schemas import ChatReply, ModelsReply
from app.settings import Settings
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.generator import Generator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk

QUESTION = "How long is the warranty of the Heron 4?"
USER = {"role": "user", "content": QUESTION}


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as opened:
        yield opened


def ask(client: TestClient, status: int = 200, **fields: Any) -> dict[str, Any]:
    response = client.post("/v1/chat/completions", json={"model": "notes", "messages": [USER], **fields})
    assert response.status_code == status, response.text[:500]
    return dict(response.json())


def chunks(client: TestClient, **fields: Any) -> list[dict[str, Any]]:
    body = {"model": "notes", "messages": [USER], "stream": True, **fields}
    with client.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [line.removeprefix("data: ") for line in response.iter_lines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


def test_a_completion(client: TestClient) -> None:
    body = ask(client, n=2, temperature=1.0, seed=5, max_completion_tokens=6)
    ChatReply.model_validate(body)
    assert [choice["index"] for choice in body["choices"]] == [0, 1]
    assert body["model"] == "notes"
    assert body["sources"][0]["document_id"] == "warranty"
    assert body["plumbline"]["collection"] == "notes"
    assert body["plumbline"]["seed"] == 5
    assert ask(client, n=2, temperature=1.0, seed=5, max_tokens=6)["choices"] == body["choices"]


def test_a_seed_is_drawn_and_told(client: TestClient) -> None:
    first = ask(client, temperature=2.0, max_tokens=8)
    assert ask(client, temperature=2.0, max_tokens=8)["plumbline"]["seed"] != first["plumbline"]["seed"]
    again = ask(client, temperature=2.0, max_tokens=8, seed=first["plumbline"]["seed"])
    assert again["choices"] == first["choices"]


def test_chunks_joined_are_the_completion(client: TestClient) -> None:
    fields = {"n": 2, "temperature": 1.0, "seed": 5, "max_tokens": 8, "logprobs": True, "top_logprobs": 2}
    full = ask(client, **fields)
    found = chunks(client, **fields, stream_options={"include_usage": True})
    texts = ["", ""]
    for chunk in found:
        assert chunk["object"] == "chat.completion.chunk"
        assert chunk["id"] == found[0]["id"]
        for choice in chunk["choices"]:
            texts[choice["index"]] += choice["delta"].get("content", "")
    assert texts == [choice["message"]["content"] for choice in full["choices"]]
    assert found[0]["sources"] == full["sources"]
    assert found[0]["choices"][0]["delta"]["role"] == "assistant"
    *_, last, usage = found
    assert [choice["finish_reason"] for choice in last["choices"]] == [c["finish_reason"] for c in full["choices"]]
    assert [choice["logprobs"] for choice in last["choices"]] == [c["logprobs"] for c in full["choices"]]
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == full["usage"]["completion_tokens"]
    assert all(chunk["usage"] is None for chunk in found[:-1])
    assert all("usage" not in chunk for chunk in chunks(client, max_tokens=2))


def test_logprobs_name_tokens(client: TestClient) -> None:
    content = ask(client, logprobs=True, top_logprobs=3, max_tokens=4)["choices"][0]["logprobs"]["content"]
    assert content
    for token in content:
        assert token["logprob"] <= 0
        assert bytes(token["bytes"]).decode() == token["token"]
        assert len(token["top_logprobs"]) == 3
    assert ask(client, max_tokens=4)["choices"][0]["logprobs"] is None


def test_citations_are_annotations(make_pipeline: Any, small_settings: Settings, first_words: Any) -> None:
    with TestClient(create_app(make_pipeline(small_settings, first_words()))) as client:
        message = ask(client)["choices"][0]["message"]
        (annotation,) = message["annotations"]
        cited = annotation["url_citation"]
        assert message["content"][cited["start_index"] : cited["end_index"]] == "[1]"
        assert cited["url"].startswith("plumbline:notes/warranty#char=0,")
        assert cited["title"] == "Warranty"
        last = [chunk for chunk in chunks(client) if chunk["choices"]][-1]
        assert last["choices"][0]["delta"]["annotations"] == message["annotations"]


def test_a_follow_up_is_made_to_stand_alone(client: TestClient) -> None:
    messages = [USER, {"role": "assistant", "content": "three years [1]"}, {"role": "user", "content": "Is it free?"}]
    body = ask(client, messages=messages, max_tokens=4)
    assert body["plumbline"]["question"] == "Is the warranty of the Heron 4 free?"
    assert ask(client, max_tokens=4)["plumbline"]["question"] == QUESTION


def test_messages_in_parts_and_a_system_message_that_the_reader_cannot_follow(client: TestClient) -> None:
    parts = [{"type": "text", "text": "How long is the warranty"}, {"type": "text", "text": "of the Heron 4?"}]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    body = ask(client, messages=messages, max_tokens=4)
    assert body["plumbline"]["question"] == "How long is the warranty\nof the Heron 4?"
    (note,) = body["plumbline"]["notes"]
    assert "system messages are ignored" in note


class Told:
    """A generator that returns its instructions, or the question if there are none."""

    name, fingerprint, context_length = "told", "0" * 64, 512

    def __init__(self, words: Any) -> None:
        self._words = words

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        prompt: Prompt = self._words.prompt(question, (), max_new_tokens)
        return prompt

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        return self.prompt(f"{instructions} / {question}", chunks, max_new_tokens)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        drawn: tuple[Completion, ...] = self._words.generate(prompt, params, seeds)
        text = "Rewritten question?" if "Standalone question:" in prompt.question else prompt.question
        return tuple(Completion(text, c.token_ids, c.token_logprobs, "stop", c.usage, c.seed) for c in drawn)


def test_a_model_that_can_write_follows_instructions_and_rewrites(
    make_pipeline: Any, small_settings: Settings, first_words: Any
) -> None:
    generator: Generator = Told(first_words())
    with TestClient(create_app(make_pipeline(small_settings, generator))) as client:
        system = {"role": "developer", "content": "Be brief."}
        body = ask(client, messages=[system, USER])
        assert body["choices"][0]["message"]["content"] == f"Be brief. / {QUESTION}"
        assert body["plumbline"]["notes"] == []
        history = [USER, {"role": "assistant", "content": "three years"}, {"role": "user", "content": "And why?"}]
        body = ask(client, messages=history)
        assert body["plumbline"]["question"] == body["choices"][0]["message"]["content"] == "Rewritten question?"
        refused = ask(client, 400, logprobs=True)["error"]
        assert (refused["code"], refused["param"]) == ("unsupported_parameter", "logprobs")


def test_a_long_conversation_does_not_make_a_short_question_too_long(
    make_pipeline: Any, small_settings: Settings, first_words: Any
) -> None:
    with TestClient(create_app(make_pipeline(small_settings, Told(first_words())))) as client:
        long = [{"role": "user", "content": "a " * 400}, {"role": "assistant", "content": "b " * 400}] * 4
        body = ask(client, messages=[*long, USER, {"role": "assistant", "content": "three"}, USER])
        assert body["plumbline"]["question"] == "Rewritten question?"


def test_models_are_collections_and_the_generator(client: TestClient) -> None:
    body = client.get("/v1/models").json()
    ModelsReply.model_validate(body)
    assert [model["id"] for model in body["data"]] == ["notes", "plumbline-reader"]
    assert client.get("/v1/models/notes").json()["object"] == "model"
    assert client.get("/v1/models/nots").json()["error"]["code"] == "model_not_found"
    alone = ask(client, model="plumbline-reader", max_tokens=4)
    assert alone["sources"] == []
    assert alone["plumbline"]["collection"] is None


def test_verdicts_where_they_are_asked_for(client: TestClient) -> None:
    judged = ask(client, verify=True, max_tokens=6, n=2, temperature=1.0)["plumbline"]["judged"]
    assert [one["index"] for one in judged] == [0, 1]
    assert all(one["outcome"] in ("supported", "hallucinated", "abstained", "unscored") for one in judged)
    assert ask(client, max_tokens=2)["plumbline"]["judged"] is None


@pytest.mark.parametrize(
    ("fields", "param", "says"),
    [
        ({"temperature": 3}, "temperature", "temperature 3"),
        ({"temperature": "1"}, "temperature", "number"),
        ({"n": 0}, "n", "n 0"),
        ({"n": 33}, "n", "32"),
        ({"stop": [7]}, "stop", "string"),
        ({"stop": ["a"] * 17}, "stop", "16"),
        ({"messages": []}, "messages", "1"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages.0.content", "empty"),
        ({"messages": [USER, {"role": "assistant", "content": "x"}]}, "messages.1.role", "user"),
        ({"messages": [{"role": "bot", "content": "x"}, USER]}, "messages.0.role", "'user'"),
        ({"messages": [{"role": "user", "content": "a\0b"}]}, "messages.0.content", "NUL"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages", "text"),
        ({"messages": [{"role": "user", "content": "word " * 600}]}, "messages", "question"),
        ({"top_logprobs": 2}, None, "logprobs"),
        ({"stream_options": {"include_usage": True}}, None, "stream"),
        ({"max_tokens": 3, "max_completion_tokens": 4}, None, "max_completion_tokens"),
        ({"logit_bias": {"the": 1}}, "logit_bias", "the"),
        ({"logit_bias": {"99999999": 1}}, "logit_bias", "99999999"),
        ({"nonsense": 1}, "nonsense", ""),
        ({"tools": [{"type": "function"}]}, "tools", ""),
        ({"response_format": {"type": "json_object"}}, "response_format", ""),
        ({"presence_penalty": 0.5}, "presence_penalty", "repetition_penalty"),
        ({"reasoning_effort": "high"}, "reasoning_effort", ""),
    ],
)
def test_what_cannot_be_used_is_400(client: TestClient, fields: dict[str, Any], param: str | None, says: str) -> None:
    error = ask(client, 400, **fields)["error"]
    assert error["type"] == "invalid_request_error"
    assert all(word in error["message"] for word in says.split())
    assert (error["param"] or "").startswith(param or "")


def test_what_asks_for_nothing_is_taken(client: TestClient) -> None:
    neutral = {"tools": None, "presence_penalty": 0, "frequency_penalty": 0.0, "response_format": {"type": "text"}}
    ignored = {"user": "me", "metadata": {"a": "b"}, "service_tier": "auto", "store": False, "top_p": None, "n": None}
    ask(client, max_tokens=2, **neutral, **ignored, stop=None, stream=None, seed=None, temperature=None)


@pytest.mark.drill
def test_more_tokens_than_the_context_are_cut_and_said_so(client: TestClient) -> None:
    (note,) = ask(client, max_tokens=4096)["plumbline"]["notes"]
    assert "max_tokens is 128" in note


def test_an_unknown_model_and_no_collection(
    client: TestClient, make_pipeline: Any, make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    assert ask(client, 404, model="gpt-4")["error"]["code"] == "model_not_found"
    with TestClient(create_app(make_pipeline(make_settings(tmp_path / "new")))) as empty:
        assert ask(empty, 404)["error"]["param"] == "model"
        assert [m["id"] for m in empty.get("/v1/models").json()["data"]] == ["plumbline-reader"]
