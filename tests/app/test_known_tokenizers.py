"""A foreign tokenizer is tried once per home and file, before any other part of its model is opened."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from app.models.cache import ModelCache
from app.models.generators import open_generator
from app.models.known_tokenizers import FOLDER, check_tokenizer
from model.checkpoints.shipped import shipped_decoder
from model.errors import ModelError

BACKTRACKING = {
    "type": "Split",
    "pattern": {"Regex": "(?:a|aa)+c"},
    "behavior": "Isolated",
    "invert": False,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(shipped_decoder(), copy)
    return copy


def _spoil(folder: Path) -> Path:
    file = folder / "tokenizer.json"
    parts = json.loads(file.read_text("utf-8"))
    parts["pre_tokenizer"] = BACKTRACKING
    file.write_text(json.dumps(parts))
    return file


def test_a_tokenizer_is_tried_once_and_again_when_its_text_changes(tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "home"
    check_tokenizer(folder, home)
    (record,) = (home / FOLDER).iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    written = record.stat().st_mtime_ns
    check_tokenizer(folder, home)
    assert record.stat().st_mtime_ns == written
    file = _spoil(folder)
    with pytest.raises(ModelError, match=str(file)):
        check_tokenizer(folder, home)
    assert [path.name for path in (home / FOLDER).iterdir()] == [record.name]


def test_a_decoder_with_a_tokenizer_bomb_is_refused_by_its_file(tmp_path: Path, folder: Path) -> None:
    file = _spoil(folder)
    with pytest.raises(ModelError, match=str(file)):
        open_generator(str(folder), home=tmp_path / "home", models=ModelCache())


def test_the_shipped_decoder_is_not_tried(tmp_path: Path) -> None:
    check_tokenizer(shipped_decoder(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_in_place_of_a_tokenizer_is_left_to_the_loader(tmp_path: Path, folder: Path) -> None:
    file = folder / "tokenizer.json"
    file.unlink()
    os.mkfifo(file)
    check_tokenizer(folder, tmp_path / "home")
    with pytest.raises(ModelError, match=str(file)):
        open_generator(str(folder), home=tmp_path / "home", models=ModelCache())
