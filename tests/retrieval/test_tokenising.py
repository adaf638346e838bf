"""Tokenisation of several languages, numbers and identifiers. The results of the defaults must not change."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sparse.stop_words import STOP_WORDS
from retrieval.sparse.tokenising import LANGUAGES, TokenisingParams, for_language, tokenise

PLAIN = TokenisingParams(stemming="none", stop_words="none")


@given(st.text(max_size=200))
def test_the_defaults_are_stemmed_unstopped_letters_and_digits(text: str) -> None:
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())
    expected = Stemmer.Stemmer("english").stemWords([w for w in words if w not in STOP_WORDS["english"]])
    assert tokenise(text, TokenisingParams()) == tuple(expected)


@given(st.text(max_size=200))
def test_options_only_add_words_and_no_word_is_empty(text: str) -> None:
    plain = tokenise(text, PLAIN)
    rich = tokenise(text, TokenisingParams("none", "none", numbers=True, code=True))
    assert rich[: len(plain)] == plain
    assert all(tokenise(text, TokenisingParams("none", "none", "bigrams", True, True)))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("german", "Die Kündigungsfristen und der Vertrag", ("kundigungsfrist", "vertrag")),
        ("french", "Les contrats de l'employé", ("contrat", "emploi")),
        ("spanish", "¿Cuál es la duración de los contratos?", ("duracion", "contrat")),
        ("russian", "Он и книги", ("книг",)),
        ("none", "the Pumps", ("the", "pumps")),
        ("chinese", "机器学习 GPU4", ("机器", "器学", "学习", "gpu4")),
        ("japanese", "猫はAIです", ("猫は", "ai", "です")),
    ],
)
def test_languages(language: str, text: str, words: tuple[str, ...]) -> None:
    assert tokenise(text, for_language(language)) == words


def test_every_language_offered_works_and_stop_words_are_composed_lower_case() -> None:
    assert {"english", "german", "turkish", "tamil", "chinese"} <= set(LANGUAGES)
    for params in LANGUAGES.values():
        assert tokenise("Zürich 42", params)[-1] == "42"
    for words in STOP_WORDS.values():
        assert all(word == unicodedata.normalize("NFKC", word).lower() for word in words)


def test_a_run_without_spaces_is_one_word_or_its_pairs() -> None:
    assert tokenise("東京都 a", PLAIN) == ("東京都", "a")
    pairs = TokenisingParams("none", "none", cjk="bigrams")
    assert tokenise("東京都 a 京x大学", pairs) == ("東京", "京都", "a", "京", "x", "大学")
    # Full-width letters are first folded to plain ones.
    assert tokenise("ＡＢＣ", pairs) == ("abc",)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("costs 1,000.50 crowns", ("1000.50",)),
        ("pi is 3.14.", ("3.14",)),
        ("version 1.2.3", ("1.2.3",)),
        ("12,5 per cent", ("12,5",)),
        ("in 1999, 2000 and x1.5y", ()),
    ],
)
def test_numbers_stand_whole_beside_their_parts(text: str, added: tuple[str, ...]) -> None:
    plain = tokenise(text, PLAIN)
    assert tokenise(text, TokenisingParams("none", "none", numbers=True)) == (*plain, *added)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("call max_new_tokens", ("max_new_tokens",)),
        ("parseHTTPResponse", ("parse", "http", "response")),
        ("utf8Decoder", ("utf", "8", "decoder")),
        ("my_camelCase", ("my_camelcase", "camel", "case")),
        ("__init__ Plain word", ()),
    ],
)
def test_identifiers_stand_whole_and_in_parts(text: str, added: tuple[str, ...]) -> None:
    plain = tokenise(text, PLAIN)
    assert tokenise(text, TokenisingParams("none", "none", code=True)) == (*plain, *added)


@pytest.mark.parametrize("text", ["", " \n", "— … !?", "the of and", "_" * 1000])
def test_nothing_to_count_gives_no_words(text: str) -> None:
    assert tokenise(text, TokenisingParams(numbers=True, code=True, cjk="bigrams")) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a" * 100_000, 1),
        ("1," * 50_000, 50_000),
        ("1.1" * 33_333, 33_334),
        ("_a" * 50_000, 50_000),
        ("aB" * 50_000, 1),
        ("東" * 100_000, 99_999),
    ],
)
def test_long_texts_of_one_kind_are_read_through_once(text: str, count: int) -> None:
    """A pattern with backtracking would take minutes. Identifiers of more than 200 characters are not split."""
    words = tokenise(text, TokenisingParams("none", "none", "bigrams", numbers=True, code=True))
    assert count <= len(words) <= count + 1


@pytest.mark.parametrize("bad", [{"stemming": "klingon"}, {"stop_words": "klingon"}, {"cjk": "trigrams"}])
def test_unknown_values_are_refused_and_listed(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad.values()))):
        TokenisingParams(**bad)
    with pytest.raises(ValueError, match=r"german.*swedish"):
        for_language("klingon")
