"""Contents of chat messages: parts with additional fields, tool messages, invalid characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.application import create_app

QUESTION = "How long is the warranty of the Heron 4?"
USER = {"role": "user", "content": QUESTION}


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as opened:
        yield opened


def post(client: TestClient, **fields: Any) -> Any:
    body = json.dumps({"model": "notes", "messages": [USER], "max_tokens": 2, **fields})  # keeps half an emoji
    return client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})


def accepted(client: TestClient, **fields: Any) -> dict[str, Any]:
    response = post(client, **fields)
    assert response.status_code == 200, response.text[:500]
    return dict(response.json())


def refused(client: TestClient, **fields: Any) -> dict[str, Any]:
    response = post(client, **fields)
    assert response.status_code == 400, response.text[:500]
    return dict(response.json()["error"])


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": QUESTION, "id": 7, "annotations": [{"type": "url_citation"}]},
        {"type": "text", "text": QUESTION, "prompt_cache_breakpoint": True, "index": None},
        {"type": "input_text", "text": QUESTION},
        QUESTION,
    ],
)
def test_what_stands_beside_a_text_changes_nothing(client: TestClient, part: object) -> None:
    messages = [{"role": "user", "content": [part], "name": "me", "id": "m1"}]
    assert accepted(client, messages=messages)["plumbline"]["question"] == QUESTION


@pytest.mark.parametrize(
    "between",
    [
        [
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
        ],
        [{"role": "assistant", "tool_calls": [{"id": "a"}]}, {"role": "tool", "content": [{"type": "image_url"}]}],
        [{"role": "assistant", "content": ""}, {"role": "function", "name": "f", "content": "{}"}],
        [
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "refusal", "refusal": "no"}],
            }
        ],
        [{"role": "assistant", "content": [{"type": "output_text", "text": "3 years", "annotations": []}]}],
    ],
)
def test_earlier_turns_of_tools_are_passed_over(client: TestClient, between: list[dict[str, Any]]) -> None:
    messages = [USER, *between, {"role": "user", "content": "Is it free?"}]
    question = accepted(client, messages=messages)["plumbline"]["question"]
    assert question == "Is the warranty of the Heron 4 free?"


def test_a_conversation_may_not_end_with_a_tool(client: TestClient) -> None:
    error = refused(client, messages=[USER, {"role": "tool", "tool_call_id": "a", "content": "x"}])
    assert error["param"] == "messages.1.role"


@pytest.mark.parametrize(
    ("content", "param", "shown"),
    [
        ([{"type": "text", "text": "How long?"}, {"type": "image_url", "image_url": {}}], "messages", "'image_url'"),
        ([{"type": "input_audio", "input_audio": {}}], "messages", "'input_audio'"),
        ([{"type": "text"}], "messages", "messages.0.content.0"),
        ([{"type": "text", "text": 5}], "messages", "a number"),
        ([{"type": ["text"], "text": "a"}], "messages", "messages.0.content.0"),
        ([{"text": "no type"}], "messages", "messages.0.content.0"),
        ([None], "messages", "null"),
        (5, "messages.0.content", "a number"),
        ({"type": "text", "text": "x"}, "messages.0.content", "an object"),
        ([], "messages.0.content", "empty"),
        (None, "messages.0.content", "empty"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence(
    client: TestClient, content: object, param: str, shown: str
) -> None:
    error = refused(client, messages=[{"role": "user", "content": content}])
    assert (error["code"], error["param"]) == ("invalid_value", param)
    assert shown in error["message"]
    assert ";" not in error["message"]
    assert "TextPart" not in error["message"]


@pytest.mark.parametrize("model", ["notes", "plumbline-reader"])
@pytest.mark.parametrize("half", ["\ud83d", "\ude00", "\ud83dx\ude00"])
def test_half_a_surrogate_pair_is_400(client: TestClient, model: str, half: str) -> None:
    parts = [{"type": "text", "text": f"how {half}long?"}]
    for messages in (
        [{"role": "user", "content": f"{half} how long is the warranty?"}],
        [{"role": "user", "content": parts}],
        [{"role": "user", "content": half}, {"role": "assistant", "content": "three"}, USER],
        [{"role": "system", "content": half}, USER],
        [USER, {"role": "assistant", "content": parts}, USER],
    ):
        error = refused(client, model=model, messages=messages)
        assert error["code"] == "invalid_value"
        assert error["param"].startswith("messages.")


@pytest.mark.parametrize(
    "fields",
    [
        {"\ud83d": 1},
        {"model": "\ud83d"},
        {"stop": "\ud83d"},
        {"logit_bias": {"\ud83d": 1}},
        {"messages": [{"role": "\ud83d", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "\ud83d"}]}]},
        {"response_format": {"type": "\ud83d"}},
    ],
)
def test_half_a_surrogate_pair_anywhere_else_is_the_clients_fault(client: TestClient, fields: dict[str, Any]) -> None:
    assert post(client, **fields).status_code in (400, 404)


def test_a_whole_emoji_is_text(client: TestClient) -> None:
    question = f"\U0001f600 {QUESTION}"
    assert accepted(client, messages=[{"role": "user", "content": question}])["plumbline"]["question"] == question


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": -1},
        {"top_k": 0},
        {"top_p": 0, "temperature": 1.0},
        {"min_p": None, "repetition_penalty": None, "k": None, "style": None, "verify": None},
        {"stop": ""},
        {"stop": ["", ""]},
        {"stop": []},
        {"top_k": None, "stop": None},
    ],
)
def test_values_that_ask_for_nothing_are_taken(client: TestClient, fields: dict[str, Any]) -> None:
    accepted(client, **fields)


def test_top_p_0_draws_the_likeliest_token(client: TestClient) -> None:
    greedy = accepted(client, temperature=0, max_tokens=6)["choices"][0]["message"]["content"]
    for seed in range(3):
        drawn = accepted(client, top_p=0, temperature=2, seed=seed, max_tokens=6)["choices"][0]["message"]["content"]
        assert drawn == greedy


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"top_k": -2}, "top_k"),
        ({"top_k": 2.5}, "top_k"),
        ({"top_p": -0.1}, "top_p"),
        ({"min_p": 1.5}, "min_p"),
        ({"stop": 5}, "stop"),
        ({"stop": ["a", 5]}, "stop"),
        ({"stop": "x" * 257}, "stop"),
        ({"logit_bias": {"50256": -100}}, "logit_bias"),
        ({"logit_bias": {"7": 1, "07": 2}}, "logit_bias"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(client: TestClient, fields: dict[str, Any], param: str) -> None:
    error = refused(client, **fields)
    assert (error["code"], error["param"].split(".")[0]) == ("invalid_value", param)


def test_context_length_exceeded_is_a_prompt_that_is_too_long(client: TestClient) -> None:
    error = refused(client, messages=[{"role": "user", "content": "word " * 600}])
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")
