from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.documents import Document
from retrieval.chunking.chunker import ChunkingParams, chunk_document, searchable_text
from retrieval.chunking.chunks import Chunk
from retrieval.chunking.sentences import sentence_spans

NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("aB. \n\r\t!?()[]\"'-_3\u200b\u00ad\u2028\x1c\x0b\u3000。漢é\u0301😀👨\u200d👩ﬁ…·")),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=300,
)


def words(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def covered(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    inside = {i for start, end in spans for i in range(start, end)}
    return all(i in inside or char.isspace() for i, char in enumerate(text))


@settings(max_examples=150, deadline=None)
@given(NASTY)
@example("Dr. No.\r\n\r\n'Yes!' (he said.)\n \n\t\nEnd")
@example("\u200b")
def test_sentences_are_stripped_disjoint_and_lose_nothing(text: str) -> None:
    spans = sentence_spans(text)
    for span in spans:
        piece = text[span.start : span.end]
        assert piece and piece == piece.strip()
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert covered(text, [(s.start, s.end) for s in spans])


@settings(max_examples=150, deadline=None)
@given(NASTY.filter(lambda t: bool(t.strip())), st.integers(1, 12), st.integers(0, 2), st.integers(1, 60))
def test_chunks_keep_offsets_limits_and_every_character(text: str, tokens: int, overlap: int, characters: int) -> None:
    params = ChunkingParams(tokens, overlap, characters)
    chunks = chunk_document(Document("d", "t", text), words, params)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert len(chunk.text) <= characters
        assert words([chunk.text])[0] <= tokens
    assert covered(text, [(c.start, c.end) for c in chunks])
    assert all(left.end < right.end and left.start < right.start for left, right in pairwise(chunks))
    if not overlap:
        assert all(left.end <= right.start for left, right in pairwise(chunks))


def test_packs_whole_sentences_and_repeats_the_overlap() -> None:
    text = "One two three. Four five six. Seven eight nine."
    plain = chunk_document(Document("d", "", text), words, ChunkingParams(8))
    assert [c.text for c in plain] == ["One two three. Four five six.", "Seven eight nine."]
    overlapping = chunk_document(Document("d", "", text), words, ChunkingParams(8, overlap_sentences=1))
    assert [c.text for c in overlapping] == ["One two three. Four five six.", "Four five six. Seven eight nine."]


def test_a_blank_line_ends_a_sentence_and_abbreviations_do_not() -> None:
    text = "A heading without a stop\n  \nDr. Smith paid 3.5 crowns. He left"
    assert [text[s.start : s.end] for s in sentence_spans(text)] == [
        "A heading without a stop",
        "Dr. Smith paid 3.5 crowns.",
        "He left",
    ]


def test_a_long_sentence_is_cut_between_lines_then_words_then_characters() -> None:
    lines = chunk_document(Document("d", "", "- a b c\n- d e f\n- g h i"), words, ChunkingParams(9))
    assert [c.text for c in lines] == ["- a b c\n- d e f", "- g h i"]
    spaced = chunk_document(Document("d", "", "a b c d e"), words, ChunkingParams(2))
    assert [c.text for c in spaced] == ["a b", "c d", "e"]
    giant = chunk_document(Document("d", "", "x" * 100), words, ChunkingParams(10, max_characters=30))
    assert [len(c.text) for c in giant] == [30, 30, 30, 10]


@pytest.mark.serial
def test_time_grows_with_the_length_and_not_its_square() -> None:
    def seconds(copies: int) -> float:
        document = Document("d", "", "It rains (a lot). word " * copies)
        started = time.perf_counter()
        chunk_document(document, words, ChunkingParams())
        return time.perf_counter() - started

    # Ten times the text: 10 times the time if linear, 100 if quadratic. 40 leaves room for a busy machine.
    small = min(seconds(1000) for _ in range(3))
    assert seconds(10_000) < 40 * small


def test_title_goes_in_front_and_cannot_fill_the_window() -> None:
    assert searchable_text(Chunk("d", 0, 2, "ab", "Pumps")) == "Pumps. ab"
    assert searchable_text(Chunk("d", 0, 2, "ab", "Why pumps?")) == "Why pumps? ab"
    assert searchable_text(Chunk("d", 0, 2, "ab", "  ")) == "ab"
    assert len(searchable_text(Chunk("d", 0, 2, "ab", "long " * 1000))) < 170


@pytest.mark.parametrize("bad", [{"max_tokens": 0}, {"overlap_sentences": -1}, {"max_characters": 0}])
def test_bad_parameters_are_named(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        ChunkingParams(**bad)
