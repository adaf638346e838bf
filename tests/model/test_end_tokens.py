"""Tokens that end a completion: lists, fallbacks, and those that only the tokenizer names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from model.checkpoints.end_tokens import eos_token_ids
from model.errors import ModelError


def write(folder: Path, config: object = None, generation: object = None, tokenizer_config: object = None) -> Path:
    for name, content in (
        ("config.json", config or {}),
        ("generation_config.json", generation),
        ("tokenizer_config.json", tokenizer_config),
    ):
        if content is not None:
            (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("generation", "config", "expected"),
    [
        (None, {}, ()),
        (None, {"eos_token_id": 2}, (2,)),
        ({}, {"eos_token_id": [2, 7, 2]}, (2, 7)),
        ({"eos_token_id": [9, 8]}, {"eos_token_id": 2}, (9, 8)),
        ({"eos_token_id": None}, {"eos_token_id": 0}, (0,)),
        ({"eos_token_id": []}, {"eos_token_id": 3}, (3,)),
    ],
)
def test_generation_config_goes_before_config(
    tmp_path: Path, generation: object, config: object, expected: tuple[int, ...]
) -> None:
    assert eos_token_ids(write(tmp_path, config, generation)) == expected


@pytest.mark.parametrize("value", ["</s>", [1, "2"], -1, True, {"a": 1}])
def test_bad_ids(tmp_path: Path, value: object) -> None:
    with pytest.raises(ModelError, match=r"config\.json: eos_token_id is"):
        eos_token_ids(write(tmp_path, {"eos_token_id": value}))


@pytest.mark.parametrize("token", ["<end>", {"content": "<end>", "special": True}])
def test_a_token_that_only_the_tokenizer_config_names(tmp_path: Path, token: object) -> None:
    added = {"5": {"content": "<pad>"}, "9": {"content": "<end>"}}
    named = {"eos_token": token, "added_tokens_decoder": added}
    assert eos_token_ids(write(tmp_path, {"eos_token_id": 2}, None, named)) == (2, 9)
    assert eos_token_ids(write(tmp_path, {"eos_token_id": 9}, None, named)) == (9,)


@pytest.mark.parametrize(
    "parts",
    [
        {"added_tokens": [{"id": 7, "content": "<end>"}], "model": {"vocab": {}}},
        {"added_tokens": [], "model": {"vocab": {"a": 0, "<end>": 7}}},
        {"model": {"vocab": [[str(n), 0.0] for n in range(7)] + [["<end>", 0.0]]}},
    ],
)
def test_its_id_comes_from_the_tokenizer(tmp_path: Path, parts: object) -> None:
    write(tmp_path, None, None, {"eos_token": "<end>"})
    assert eos_token_ids(tmp_path) == ()  # no tokenizer: no id
    (tmp_path / "tokenizer.json").write_text(json.dumps(parts), "utf-8")
    assert eos_token_ids(tmp_path) == (7,)


@pytest.mark.parametrize("content", ["{", "[]", '{"model": 3}', '{"model": {"vocab": [3]}}', "[" * 100_000])
def test_a_damaged_tokenizer_is_not_this_files_concern(tmp_path: Path, content: str) -> None:
    write(tmp_path, {"eos_token_id": 1}, None, {"eos_token": "<end>", "added_tokens_decoder": {"x": 3}})
    (tmp_path / "tokenizer.json").write_text(content, "utf-8")
    assert eos_token_ids(tmp_path) == (1,)


def test_numbers_that_no_id_is(tmp_path: Path) -> None:
    config = {"eos_token": "<e>", "added_tokens_decoder": {"9" * 5000: {"content": "<e>"}, "7": {"content": "<e>"}}}
    assert eos_token_ids(write(tmp_path, tokenizer_config=config)) == (7,)


def test_a_config_of_hundreds_of_megabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(500_000_000)  # a hole: it takes no disk
    with pytest.raises(ModelError, match=r"config\.json.*500,000,000"):
        eos_token_ids(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(ModelError, match=r"config\.json is not a regular file"):
        eos_token_ids(tmp_path)
