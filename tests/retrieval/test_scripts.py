"""Sentences and words of scripts with special marks or without spaces. Other scripts are not affected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.documents import Document
from data.store import Store
from retrieval.chunking.scripts import has_special_sentence_ends, needs_bigrams
from retrieval.chunking.sentences import sentence_spans
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import index_documents
from retrieval.sparse.tokenising import TokenisingParams, for_language, tokenise


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["水泵附带过滤器。", "备件需要另外订购！", "要多久？", "三天"],
        ["他说：“水泵坏了。”", "然后离开了。"],
        ["「ポンプは届きましたか？」と聞いた。", "返事はなかった。"],
        ["필터는 포함됩니다。", "부품은 별도입니다。"],
        ["पंप के साथ फ़िल्टर आता है।", "पुर्जे अलग से मिलते हैं।"],
        ["المضخة مع مرشح؟", "نعم، دائما."],
        ["پمپ کے ساتھ فلٹر آتا ہے۔", "پرزے الگ ہیں۔"],
        ["ፓምፑ ማጣሪያ አለው።", "ክፍሎች ለብቻ ናቸው።"],
        ["ปั๊มน้ำมาพร้อมกับตัวกรอง ", "อะไหล่ทุกชิ้นขายแยกต่างหาก"],
        ["The pump (水泵) works. ", "它很好。", "Yes, it is."],
    ],
)
def test_sentences_end_at_the_marks_of_their_script(parts: list[str]) -> None:
    assert sentences("".join(parts)) == [part.strip() for part in parts]


def test_thai_spaces_around_numerals_and_short_words_end_nothing() -> None:
    text = "รับประกัน 3 ปี นับจากวันที่ซื้อ"
    assert sentences(text) == [text]


@pytest.mark.parametrize("text", ["It works. Mr. Quist agrees!", "Größe: 3,5 m. Ça va? Oui.", "Насос. Да!", ""])
def test_european_texts_are_not_looked_at(text: str) -> None:
    assert not has_special_sentence_ends(text)
    assert not needs_bigrams(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("员工每年享有十五天年假。", "年假"),
        ("試用期間は三か月です。", "試用期間"),
        ("수습기간은 삼 개월입니다.", "수습기간"),
        ("ปั๊มน้ำมาพร้อมกับตัวกรอง", "ตัวกรอง"),
        ("पंप की वारंटी तीन साल है।", "वारंटी"),
    ],
)
def test_a_word_within_a_run_is_found(text: str, query: str) -> None:
    params = TokenisingParams(cjk="auto")
    wanted = tokenise(query, params)
    assert wanted
    assert set(wanted) <= set(tokenise(text, params))


def test_vowel_signs_do_not_cut_words() -> None:
    assert tokenise("पंप की वारंटी", TokenisingParams("none", "none", "auto")) == ("पंप", "की", "वारंटी")


def index(
    store: Store, home: Path, encoder: Any, texts: dict[str, str], tokenising: TokenisingParams | None = None
) -> Any:
    documents = [Document(key, "", text) for key, text in texts.items()]
    return index_documents(
        store, home, "c", documents, encoder, params=IndexParams.for_new_index(tokenising=tokenising)
    )


def test_an_index_decides_by_its_documents(store: Store, home: Path, encoder: Any) -> None:
    english = {"a": "The pump has a filter. Parts are sold apart.", "b": "Größe und Maß."}
    chosen = index(store, home, encoder, english).generation_hash
    fixed = index(store, home, encoder, english, tokenising=TokenisingParams())
    assert (fixed.generation_hash, fixed.rebuilt) == (chosen, False)
    mixed = {**english, "zh": "员工每年享有十五天年假。试用期为三个月。"}
    report = index(store, home, encoder, mixed)
    with_pairs = index(store, home, encoder, mixed, tokenising=TokenisingParams(cjk="bigrams"))
    assert with_pairs.generation_hash == report.generation_hash


def test_an_index_of_an_earlier_version_is_cut_again(store: Store, home: Path, encoder: Any, monkeypatch: Any) -> None:
    texts = {"hi": " ".join(["पंप के साथ फ़िल्टर आता है। पुर्जे अलग से मिलते हैं।"] * 40)}
    with monkeypatch.context() as before:
        before.setattr("retrieval.chunking.sentences.special_sentence_starts", lambda text: [])
        before.setattr("retrieval.generations.index_params.TokenisingParams", lambda cjk: TokenisingParams())
        old = index(store, home, encoder, texts)
    new = index(store, home, encoder, texts)
    assert new.generation_hash != old.generation_hash
    assert not index(store, home, encoder, texts).rebuilt


def test_language_options_keep_pairs() -> None:
    assert for_language("german").cjk == "bigrams"
