"""A heading is in the same chunk as the text below it, and no text is lost."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from data.documents import Document
from data.location import location_of
from data.outline import Outline
from data.parsing.markdown import markdown_headings
from retrieval.chunking.chunker import ChunkingParams, chunk_document


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def cut(text: str, tokens: int, overlap: int = 0) -> list[str]:
    document = Document("d", "", text, outline=Outline(markdown_headings(text)))
    return [c.text for c in chunk_document(document, count, ChunkingParams(tokens, overlap))]


TEXT = (
    "The fee is two euros a day.\n\n## Notice\n\nSix weeks are the rule here.\n\n## Pets\n\n### Dogs\n\n"
    "Dogs may live here."
)


def test_a_heading_goes_with_the_text_below_it() -> None:
    assert cut(TEXT, 9) == [
        "The fee is two euros a day.",
        "## Notice\n\nSix weeks are the rule here.",
        "## Pets\n\n### Dogs\n\nDogs may live here.",
    ]


def test_without_an_outline_the_text_is_packed_as_before() -> None:
    plain = chunk_document(Document("d", "", TEXT), count, ChunkingParams(9))
    assert plain[0].text.endswith("## Notice")


def test_a_heading_that_does_not_fit_with_its_text_stays_where_it_is() -> None:
    chunks = cut("One two three.\n\n# A rather long heading\n\n" + "word " * 7 + "end.", 8)
    assert "".join(chunks).count("rather long heading") == 1
    assert all(len(chunk.split()) <= 8 for chunk in chunks)


def test_the_place_of_a_chunk_is_its_own_section() -> None:
    document = Document("d", "", TEXT, outline=Outline(markdown_headings(TEXT)))
    places = [location_of(document, c.start, c.end) for c in chunk_document(document, count, ChunkingParams(9))]
    assert [position.headings for position in places] == [(), ("Notice",), ("Pets", "Dogs")]


lines = st.lists(
    st.sampled_from(["# Head", "## Below it", "A short sentence.", "Another one that is rather longer than that.", ""]),
    max_size=25,
).filter(any)


@given(lines, st.integers(2, 30), st.integers(0, 2))
def test_every_word_lies_in_a_chunk_and_no_chunk_is_too_long(found: list[str], tokens: int, overlap: int) -> None:
    text = "\n\n".join(found)
    document = Document("d", "", text, outline=Outline(markdown_headings(text)))
    chunks = chunk_document(document, count, ChunkingParams(tokens, overlap))
    covered = {position for c in chunks for position in range(c.start, c.end)}
    assert all(position in covered for position, character in enumerate(text) if not character.isspace())
    assert all(len(c.text.split()) <= tokens for c in chunks)
    assert [c.start for c in chunks] == sorted(c.start for c in chunks)
