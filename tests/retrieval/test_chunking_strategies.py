from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.documents import Document
from data.outline import Heading, Outline
from data.parsing.markdown import markdown_headings
from retrieval.chunking import sentences
from retrieval.chunking.chunker import ChunkingParams, chunk_document, chunk_spans
from retrieval.chunking.sentences import sentence_spans

NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("aB. \n\t#?!-_3\u200b\u2028漢é\u0301😀👨\u200d👩\u05e9\u0644\u202e")),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=300,
).filter(lambda text: bool(text.strip()))


def words(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def texts(document: Document, params: ChunkingParams) -> list[str]:
    return [chunk.text for chunk in chunk_document(document, words, params)]


@settings(max_examples=150, deadline=None)
@given(NASTY, st.integers(2, 12), st.integers(0, 11), st.integers(1, 60), st.integers(0, 2), st.data())
def test_every_strategy_keeps_offsets_limits_and_every_character(
    text: str, tokens: int, overlap: int, characters: int, sentences_kept: int, data: st.DataObject
) -> None:
    found, at = [], 0
    while at < len(text) - 1 and data.draw(st.booleans()):
        start = data.draw(st.integers(at, len(text) - 1))
        at = data.draw(st.integers(start + 1, len(text)))
        found.append(Heading(start, at, 1))
    document = Document("d", "t", text, outline=Outline(tuple(found)))
    for params in (
        ChunkingParams(tokens, 0, characters, "tokens", min(overlap, tokens - 1)),
        ChunkingParams(tokens, sentences_kept, characters, "headings"),
    ):
        chunks = chunk_document(document, words, params)
        inside = {i for chunk in chunks for i in range(chunk.start, chunk.end)}
        assert all(i in inside or char.isspace() for i, char in enumerate(text))
        for chunk in chunks:
            assert text[chunk.start : chunk.end] == chunk.text
            assert len(chunk.text) <= characters
            assert words([chunk.text])[0] <= tokens
        assert all(left.end < right.end and left.start < right.start for left, right in pairwise(chunks))


def test_no_chunk_reaches_over_a_heading_and_none_is_only_one() -> None:
    text = "Intro.\n# Part\n## One\nAlpha beta.\nGamma.\n## Two\nDelta.\n## Empty"
    document = Document("d", "", text, outline=Outline(markdown_headings(text)))
    assert texts(document, ChunkingParams(strategy="headings")) == [
        "Intro.",
        "# Part\n## One\nAlpha beta.\nGamma.",
        "## Two\nDelta.\n## Empty",
    ]
    plain = Document("d", "", text)
    assert texts(plain, ChunkingParams(strategy="headings")) == texts(plain, ChunkingParams())


def test_windows_of_tokens_are_full_and_overlap() -> None:
    document = Document("d", "", "One two. Three four five. Six")
    assert texts(document, ChunkingParams(4, strategy="tokens")) == ["One two. Three", "four five. Six"]
    assert texts(document, ChunkingParams(4, strategy="tokens", overlap_tokens=2)) == [
        "One two. Three",
        "Three four five.",
        "five. Six",
    ]


def test_half_of_a_surrogate_pair_is_refused_and_text_without_spaces_is_cut() -> None:
    for strategy in ("sentences", "headings", "tokens"):
        params = ChunkingParams(5, max_characters=7, strategy=strategy)
        with pytest.raises(ValueError, match=r"surrogate.* 2"):
            chunk_document(Document("d", "", "a \ud800"), words, params)
        assert "".join(texts(Document("d", "", "漢字" * 50), params)) == "漢字" * 50


def test_the_parameters_of_older_indexes_are_written_as_they_were() -> None:
    assert ChunkingParams(90, 1).to_json() == {"max_tokens": 90, "overlap_sentences": 1, "max_characters": 2000}
    params = ChunkingParams(strategy="tokens", overlap_tokens=9)
    assert ChunkingParams(**params.to_json()) == params


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"strategy": "pages"}, "'pages'"),
        ({"strategy": "tokens", "overlap_tokens": 110}, "overlap_tokens"),
        ({"overlap_tokens": 1}, "overlap_sentences"),
        ({"strategy": "tokens", "overlap_sentences": 1}, "overlap_tokens"),
    ],
)
def test_parameters_that_do_not_go_together_are_named(bad: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ChunkingParams(**bad)  # type: ignore[arg-type]


def test_a_paragraph_read_in_windows_has_the_sentences_of_one_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        " ".join(f"Sentence {n} says what Dr. No paid ({n}.5 crowns)." for n in range(200)) + " x" * 3000 + "y" * 3000
    )
    full = sentence_spans(text)
    monkeypatch.setattr(sentences, "_WINDOW", 1000)
    windows = sentence_spans(text)
    assert windows[:200] == full[:200]
    covered = {i for span in windows for i in range(span.start, span.end)}
    assert all(i in covered or char.isspace() for i, char in enumerate(text))
    assert all(left.end <= right.start for left, right in pairwise(windows))


def test_no_text_has_no_chunks() -> None:
    for strategy in ("sentences", "headings", "tokens"):
        assert chunk_spans(" \n", words, ChunkingParams(strategy=strategy)) == ()
