"""Detection of small talk. A question after a greeting is still a question."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.engine.small_talk import after_small_talk, small_talk_reply
from app.service.openai.schemas import ChatReply

USER = {"role": "user", "content": "How long is the warranty of the Heron 4?"}
ANSWER = {"role": "assistant", "content": "three years [1]"}


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Much appreciated", "You're welcome."),
        ("Perfect, that's exactly what I needed!", "You're welcome."),
        ("Got it, thank you very much for explaining that", "You're welcome."),
        ("Good afternoon everyone", "Hello! What would you like to know?"),
        ("hey \U0001f44b", "Hello! What would you like to know?"),
        ("That's all for today, see you later", "Goodbye."),
        ("Makes sense.", "All right. Is there anything else you would like to know?"),
        ("\U0001f44d", "All right. Is there anything else you would like to know?"),
        ("Besten Dank f\u00fcr die Auskunft", "Gern geschehen."),
        ("Mu\u0301chas gracias", ""),
        ("\u00a1Mil gracias!", "De nada."),
        ("Bonsoir", "Bonjour ! Que souhaitez-vous savoir ?"),
        ("hartelijk dank, tot ziens", ""),
    ],
)
def test_what_is_replied(text: str, reply: str) -> None:
    assert small_talk_reply(text) == reply


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "Great Britain",
        "Right of return",
        "No refunds",
        "Hello world program",
        "How are you made?",
        "Is that all?",
        "thanks for the warranty",
        "Good Friday opening hours",
        "So?",
        "please",
        "High",
        "Byelaws",
        "thanks " * 400,
    ],
)
def test_what_asks_or_says_something_is_no_small_talk(text: str) -> None:
    assert small_talk_reply(text) == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Hi, what does ERR-77 mean?", "what does ERR-77 mean?"),
        ("Thanks a lot! And in winter?", "And in winter?"),
        ("Ok. Great. When does it open?", "When does it open?"),
        ("Good morning\nWho founded it?", "Who founded it?"),
        ("Hello", "Hello"),
        ("Dr. Thorne was who?", "Dr. Thorne was who?"),
    ],
)
def test_the_rest_behind_an_opening(text: str, rest: str) -> None:
    assert after_small_talk(text) == rest


def test_a_long_message_takes_no_time() -> None:
    begun = time.perf_counter()
    for text in ("thank you for " * 71, "so " * 330, "hi, " * 240 + "x", "this is all all " * 60):
        small_talk_reply(text)
        after_small_talk(text)
    assert time.perf_counter() - begun < 2


def complete(client: TestClient, **fields: Any) -> dict[str, Any]:
    response = client.post("/v1/chat/completions", json={"model": "notes", **fields})
    assert response.status_code == 200, response.text
    return dict(response.json())


@pytest.mark.parametrize("history", [[], [USER, ANSWER]])
def test_thanks_are_answered_as_thanks(client: TestClient, history: list[dict[str, str]]) -> None:
    body = complete(client, messages=[*history, {"role": "user", "content": "Thank you kindly!"}], n=2, verify=True)
    ChatReply.model_validate(body)
    assert [choice["message"]["content"] for choice in body["choices"]] == ["You're welcome."] * 2
    assert all(choice["message"]["annotations"] == [] for choice in body["choices"])
    assert body["sources"] == []
    assert body["plumbline"]["question"] == "Thank you kindly!"
    assert [one["outcome"] for one in body["plumbline"]["judged"]] == ["unscored"] * 2
    assert body["usage"]["total_tokens"] == 0


def test_a_greeting_in_a_stream(client: TestClient) -> None:
    body = {"model": "notes", "messages": [{"role": "user", "content": "Hello!"}], "stream": True}
    response = client.post("/v1/chat/completions", json=body)
    assert "Hello! What would you like to know?" in response.text
    assert response.text.endswith("data: [DONE]\n\n")


def test_a_greeting_to_a_collection_that_is_not_there(client: TestClient) -> None:
    body = {"model": "gpt-4", "messages": [{"role": "user", "content": "Hello!"}]}
    assert client.post("/v1/chat/completions", json=body).status_code == 404


def test_a_question_after_thanks_follows_the_last_question(client: TestClient) -> None:
    thanks = [{"role": "user", "content": "Thanks!"}, {"role": "assistant", "content": "You're welcome."}]
    messages = [USER, ANSWER, *thanks, {"role": "user", "content": "Is it free?"}]
    question = complete(client, messages=messages, max_tokens=2)["plumbline"]["question"]
    assert question == "Is the warranty of the Heron 4 free?"
