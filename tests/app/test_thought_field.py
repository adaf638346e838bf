"""A model's reasoning is a separate field of an answer's JSON, never part of its text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt

THOUGHT = "They ask how long; the first passage says it."


@pytest.fixture
def pipeline(make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any) -> Pipeline:
    class Thinker(first_words):  # type: ignore[misc]
        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            thought = THOUGHT if "warranty" in prompt.question else ""
            return tuple(
                Completion("Three years.", (7,), (-0.5,), "stop", Usage(9, 4), s, thought=thought) for s in seeds
            )

    found = make_pipeline(make_settings(home_copy), Thinker())
    assert isinstance(found, Pipeline)
    return found


@pytest.mark.parametrize(("question", "thought"), [("How long is the warranty?", THOUGHT), ("How long?", "")])
def test_query_and_chat_carry_the_thought(client: TestClient, question: str, thought: str) -> None:
    reply = client.post("/v1/query", json={"question": question, "collection": "notes"})
    assert reply.status_code == 200, reply.text[:500]
    (answer,) = reply.json()["answers"]
    assert (answer["text"], answer["thought"]) == ("Three years.", thought)
    body = {"model": "notes", "messages": [{"role": "user", "content": question}]}
    chat = client.post("/v1/chat/completions", json=body)
    assert chat.status_code == 200, chat.text[:500]
    message = chat.json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Three years.", thought or None)
