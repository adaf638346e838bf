"""A tokenizer that takes endless time or memory ends in an error that names its file, in a child process."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from model.checkpoints.shipped import shipped_decoder
from model.checkpoints.tokenizer_limits import TokenizerLimits, try_tokenizer
from model.errors import ModelError

SMALL = TokenizerLimits(memory_bytes=400 << 20, cpu_seconds=1)
DOUBLE = [{"type": "Replace", "pattern": {"String": "q"}, "content": "qq"}] * 50
ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
PLAIN = json.loads(Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(ALPHABET)}, merges=[])).to_str())


def _split(pattern: str) -> dict[str, Any]:
    return {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}}


def _written(folder: Path, text: str) -> Path:
    file = folder / "tokenizer.json"
    file.write_text(text)
    return file


def _refused(folder: Path, limits: TokenizerLimits = SMALL) -> str:
    with pytest.raises(ModelError) as error:
        try_tokenizer(folder, limits)
    assert str(folder / "tokenizer.json") in str(error.value)
    return str(error.value)


def test_a_good_tokenizer_passes() -> None:
    try_tokenizer(shipped_decoder())


@pytest.mark.parametrize(
    ("part", "limit"),
    [
        ({"normalizer": {"type": "Sequence", "normalizers": DOUBLE}}, "it takes more than"),
        ({"normalizer": {"type": "Sequence", "normalizers": DOUBLE[:12]}}, "4,096 tokens"),
        ({"decoder": {"type": "Sequence", "decoders": DOUBLE}}, "it takes more than"),
        ({"normalizer": {"type": "Prepend", "prepend": "x" * 3_000_000}}, "it takes more than"),
        (_split("(?:a|aa)+c"), "retry-limit"),
        (_split("|".join(f"(?i:w{n}abcdefgh)" for n in range(60_000))), "it takes more than"),
    ],
    ids=["doubles text", "doubles text twelve times", "doubles tokens", "long prefix", "backtracks", "alternatives"],
)
def test_a_bomb_of_rules_is_refused_by_its_file_and_limit(tmp_path: Path, part: dict[str, Any], limit: str) -> None:
    _written(tmp_path, json.dumps({**PLAIN, **part}))
    assert limit in _refused(tmp_path)


def test_a_vocabulary_beyond_the_memory_is_refused(tmp_path: Path) -> None:
    vocabulary = {**PLAIN["model"]["vocab"], **{f"t{n:x}": 256 + n for n in range(200_000)}}
    _written(tmp_path, json.dumps({**PLAIN, "model": {**PLAIN["model"], "vocab": vocabulary}}))
    assert "100 MiB" in _refused(tmp_path, TokenizerLimits(memory_bytes=100 << 20, cpu_seconds=30))


def test_merges_beyond_the_memory_are_refused(tmp_path: Path) -> None:
    pairs = [(a, b) for a in string.ascii_lowercase for b in string.ascii_lowercase]
    vocabulary = {**PLAIN["model"]["vocab"], **{a + b: 256 + n for n, (a, b) in enumerate(pairs)}}
    merges = [[a, b] for a, b in pairs] * 1000
    model = {**PLAIN["model"], "vocab": vocabulary, "merges": merges}
    _written(tmp_path, json.dumps({**PLAIN, "model": model}))
    assert "200 MiB" in _refused(tmp_path, TokenizerLimits(memory_bytes=200 << 20, cpu_seconds=30))


def test_normalizers_nested_thousands_deep_are_refused(tmp_path: Path) -> None:
    depth = 5000
    nested = '{"type":"Sequence","normalizers":[' * depth + '{"type":"NFC"}' + "]}" * depth
    _written(tmp_path, json.dumps({**PLAIN, "normalizer": "HERE"}).replace('"HERE"', nested))
    assert "recursion limit" in _refused(tmp_path)


def test_a_file_longer_than_any_tokenizer_is_not_read(tmp_path: Path) -> None:
    with _written(tmp_path, "").open("r+b") as file:
        file.truncate(1 << 30)  # sparse: zeros that take no space
    assert "1,073,741,824" in _refused(tmp_path)
