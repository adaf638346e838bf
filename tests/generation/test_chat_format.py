"""Sources and variables of chat templates, and errors of damaged ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from generation.causal.chat_format import chat_frame, chat_template
from generation.errors import GenerationError
from model.checkpoints.tokenizer import Tokenizer

MakeLlama = Callable[..., Path]


def test_a_separate_file_goes_before_the_tokenizer_config(llama: MakeLlama) -> None:
    folder = llama(chat=True)
    assert "im_start" in str(chat_template(folder))
    (folder / "chat_template.jinja").write_text("Q {{ messages[0].content }} A", "utf-8")
    assert chat_template(folder) == "Q {{ messages[0].content }} A"
    assert Tokenizer(folder / "tokenizer.json").decode(chat_frame(folder).after) == " A"


def test_no_template(llama: MakeLlama) -> None:
    folder = llama()
    assert chat_template(folder) is None
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": None}))
    assert chat_template(folder) is None


def test_a_model_that_can_think_is_asked_not_to(llama: MakeLlama) -> None:
    folder = llama(chat=True)
    template = "{{ messages[0].content }}{% if enable_thinking is defined and not enable_thinking %} at once{% endif %}"
    (folder / "chat_template.jinja").write_text(template, "utf-8")
    assert Tokenizer(folder / "tokenizer.json").decode(chat_frame(folder).after) == " at once"


def test_a_template_that_is_no_text(llama: MakeLlama) -> None:
    folder = llama(chat=True)
    (folder / "chat_template.jinja").write_bytes(b"\xff\xfe{{")
    with pytest.raises(GenerationError, match=r"chat_template\.jinja.*UTF-8"):
        chat_template(folder)


def test_an_endlessly_nested_tokenizer_config(llama: MakeLlama) -> None:
    folder = llama(chat=True)
    (folder / "tokenizer_config.json").write_text("[" * 100_000)
    with pytest.raises(GenerationError, match=r"tokenizer_config\.json"):
        chat_frame(folder)


def test_a_template_cannot_count_to_a_billion(llama: MakeLlama) -> None:
    folder = llama(chat=True)
    (folder / "chat_template.jinja").write_text("{% for n in range(1000000000) %}x{% endfor %}", "utf-8")
    with pytest.raises(GenerationError, match="Range too big"):
        chat_frame(folder)


@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer_config.json"])
def test_a_file_of_hundreds_of_megabytes_is_not_read(llama: MakeLlama, name: str) -> None:
    folder = llama(chat=True)
    with (folder / name).open("wb") as file:
        file.truncate(500_000_000)  # a sparse file, which takes no disk space
    with pytest.raises(GenerationError, match=rf"{name}.*500,000,000"):
        chat_frame(folder)
