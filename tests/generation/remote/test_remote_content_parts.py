"""Servers that send the content of an answer as a list of parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from generation.decoding.params import SamplingParams
from generation.errors import UnavailableError

Make = Callable[..., Any]
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "The user asks about a lighthouse."}]}


def answer(server: Any, wire: Any, remote: Make, content: object) -> str:
    server.script = [wire.reply(200, wire.chat(content))]
    generator = remote()
    (completion,) = generator.generate(generator.prompt("When?", [], 20), SamplingParams(max_tokens=20), (0,))
    return str(completion.text)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "In 1871"}], "In 1871"),
        ([THOUGHT, {"type": "text", "text": "In "}, {"type": "text", "text": "1871", "annotations": []}], "In 1871"),
        ([{"type": "output_text", "text": "In 1871"}, {"type": "reference", "reference_ids": [1]}], "In 1871"),
        (["In ", "1871"], "In 1871"),
        ([{"text": "In 1871"}], "In 1871"),
        ([{"type": "refusal", "refusal": "I cannot say."}], "I cannot say."),
        ([{"type": ["odd"], "text": "?"}, None, 7, {"type": "text", "text": "In \ud83d1871"}], "In \ufffd1871"),
    ],
)
def test_the_text_of_parts_is_the_answer(server: Any, wire: Any, remote: Make, content: object, text: str) -> None:
    assert answer(server, wire, remote, content) == text


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": None}], {"type": "text", "text": "x"}])
def test_parts_without_a_text_are_no_answer(server: Any, wire: Any, remote: Make, content: object) -> None:
    with pytest.raises(UnavailableError, match="without text"):
        answer(server, wire, remote, content)


def test_parts_in_a_stream(server: Any, wire: Any, remote: Make) -> None:
    pieces = [[THOUGHT], [{"type": "text", "text": "In "}], "18", [{"type": "text", "text": "71"}]]
    server.script = [wire.events(*[wire.piece(piece) for piece in pieces], wire.piece(None, "stop"))]
    generator = remote()
    heard = generator.stream(generator.prompt("When?", [], 20), SamplingParams(max_tokens=20), (0,))
    assert "".join(delta.text for delta in heard) == "In 1871"
