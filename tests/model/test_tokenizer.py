"""The tokenizer: offsets that fit, and no special token out of a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, models, pre_tokenizers
from tokenizers import Tokenizer as HFTokenizer

from model.checkpoints.minilm import minilm_folder
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError


@pytest.fixture(scope="module")
def minilm() -> Tokenizer:
    return Tokenizer(minilm_folder() / "tokenizer.json")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Words by spaces; special tokens, an added one that is not special, and a run of spaces as an added token."""
    words = ["[UNK]", "a", "b", "<", ">", "s", "tool", "end"]
    raw = HFTokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    raw.add_special_tokens(["<s>", "<end>"])
    raw.add_tokens([AddedToken("<tool>", special=False), AddedToken("   ", special=False)])
    raw.enable_truncation(2)
    raw.enable_padding(length=9)
    raw.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_no_added_token_is_recognised_in_a_text(small: Path) -> None:
    tokenizer = Tokenizer(small)
    assert tokenizer.size == 12
    found = tokenizer.encode("<s> a <end> <tool> b")
    assert [tokenizer.token(i) for i in found.token_ids] == ["<", "s", ">", "a", "<", "end", ">", "<", "tool", ">", "b"]
    # White space is no marker: where a tokenizer has a token for it, it stays.
    assert [tokenizer.token(i) for i in tokenizer.encode("a   b").token_ids] == ["a", "   ", "b"]


def test_nothing_is_cut_or_padded(small: Path) -> None:
    tokenizer = Tokenizer(small)
    assert len(tokenizer.encode("a b a b a").token_ids) == tokenizer.count("a b a b a") == 5
    assert len(tokenizer.encode("").token_ids) == tokenizer.count("") == 0


def test_decode_leaves_special_tokens_out(small: Path) -> None:
    tokenizer = Tokenizer(small)
    ids = [tokenizer.id_of(token) for token in ("<s>", "a", "<tool>", "b", "<end>")]
    assert tokenizer.decode(ids) == "a <tool> b"
    assert tokenizer.decode([1, 999_999]) == "a"
    assert tokenizer.token(999_999) == ""
    with pytest.raises(ModelError, match="no token 'nowhere'"):
        tokenizer.id_of("nowhere")


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_offsets_fit_whatever_the_text(minilm: Tokenizer, texts: list[str]) -> None:
    for text, encoding in zip(texts, minilm.encode_many(texts), strict=True):
        assert encoding == minilm.encode(text)
        assert minilm.count(text) == len(encoding.token_ids)
        previous = 0
        for start, end in encoding.offsets:
            assert previous <= start <= end <= len(text)
            previous = start


def test_lone_surrogates_are_read_as_unknown(minilm: Tokenizer) -> None:
    broken, mended = minilm.encode("say \ud800 it"), minilm.encode("say \ufffd it")
    assert broken == mended
    assert minilm.encode_many(["\udfff", "ok"])[1] == minilm.encode("ok")
    assert broken.offsets[-1] == (6, 8)


def test_specials_of_minilm_in_a_text(minilm: Tokenizer) -> None:
    ids = minilm.encode("[SEP] [CLS] [PAD] [MASK] [unused50]").token_ids
    assert min(ids) >= 999


def test_what_is_no_tokenizer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is missing"):
        Tokenizer(tmp_path / "tokenizer.json")
    for content in ("{", "[]", '{"model": {}}', "\ufeff"):
        (tmp_path / "tokenizer.json").write_text(content, "utf-8")
        with pytest.raises(ModelError, match=r"tokenizer.json"):
            Tokenizer(tmp_path / "tokenizer.json")


def test_a_tokenizer_of_hundreds_of_megabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "tokenizer.json").open("wb") as file:
        file.truncate(500_000_000)  # a hole: it takes no disk
    with pytest.raises(ModelError, match=r"tokenizer\.json.*500,000,000"):
        Tokenizer(tmp_path / "tokenizer.json")


def test_a_pattern_that_takes_for_ever_is_an_error_that_can_be_caught(tmp_path: Path) -> None:
    """The library's regular expressions give up after ten million steps, with a panic, which is no Exception."""
    made = HFTokenizer(models.BPE(vocab={"a": 0, "!": 1}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("(a+)+$"), behavior="isolated")
    made.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer(tmp_path / "tokenizer.json")
    assert tokenizer.encode("aa").token_ids == (0, 0)
    for way in (tokenizer.encode, tokenizer.count, lambda text: tokenizer.encode_many([text, "a"])):
        with pytest.raises(ModelError, match="retry-limit-in-match over"):
            way("a" * 40 + "!")
