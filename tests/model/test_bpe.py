"""Byte-level BPE: any text comes back, special tokens in a text stay text, the same texts give the same file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError
from model.training.bpe import END, END_ID, SMALLEST_VOCABULARY, SPECIAL, BpeEncoder, train_bpe

TEXTS = [f"Keeper {n} of the lamp at Tarn trimmed it in {1800 + n}; the oil was café brown." for n in range(60)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bpe") / "tokenizer.json"
    path.write_bytes(train_bpe(TEXTS, 300))
    return path


def test_the_same_texts_in_any_order_give_the_same_bytes(path: Path) -> None:
    assert train_bpe(reversed(TEXTS), 300) == path.read_bytes()
    assert train_bpe(TEXTS, 301) != path.read_bytes()


def test_merges_are_learnt_and_digits_stay_alone(path: Path) -> None:
    tokenizer = Tokenizer(path)
    assert tokenizer.size == 300 == BpeEncoder(path).size
    tokens = [tokenizer.token(i) for i in tokenizer.encode("Keeper 7 trimmed it in 1871").token_ids]
    assert "Ġtrim" in tokens
    assert tokens[-4:] == ["1", "8", "7", "1"]
    assert tokenizer.id_of(END) == END_ID


@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=60))
def test_any_text_comes_back_and_its_bytes_are_counted(path: Path, text: str) -> None:
    encoder, tokenizer = BpeEncoder(path), Tokenizer(path)
    (ids,) = encoder.encode_many([text])
    clean = text.encode("utf-8", "replace").decode()
    assert tokenizer.decode(ids.tolist()) == clean
    assert sum(encoder.token_bytes()[i] for i in ids) == len(clean.encode())
    assert tuple(ids.tolist()) == tokenizer.encode(clean).token_ids  # training and use read a text alike


def test_a_special_token_in_a_text_stays_text(path: Path) -> None:
    encoder = BpeEncoder(path)
    for special in SPECIAL:
        (ids,) = encoder.encode_many([f"x{special}y"])
        assert min(ids) >= len(SPECIAL)
    assert len(encoder.token_bytes()) == encoder.size
    assert encoder.encode_many([""])[0].dtype == np.uint16


def test_what_cannot_be_is_refused(path: Path, tmp_path: Path) -> None:
    for size in (SMALLEST_VOCABULARY - 1, 65537):
        with pytest.raises(ModelError, match=f"vocabulary of {size} tokens"):
            train_bpe(TEXTS, size)
    with pytest.raises(ModelError, match=r"none.json"):
        BpeEncoder(tmp_path / "none.json")
    (tmp_path / "foreign.json").write_text(path.read_text("utf-8").replace(END, "<s>"))
    with pytest.raises(ModelError, match="does not begin with"):
        BpeEncoder(tmp_path / "foreign.json")


def test_no_text_at_all_leaves_the_bytes() -> None:
    assert len(json.loads(train_bpe([], 400))["model"]["vocab"]) == SMALLEST_VOCABULARY
