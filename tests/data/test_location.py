from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.documents import Document
from data.location import location_of
from data.outline import Heading, Outline
from data.parsing.markdown import markdown_headings

TEXT = "One\nalpha\nTwo\nbeta\nThree\ngamma"


def heading(words: str, level: int) -> Heading:
    start = TEXT.index(words)
    return Heading(start, start + len(words), level)


def test_headings_from_the_outermost_in_and_lines_of_the_file() -> None:
    outline = Outline((heading("One", 1), heading("Two", 2), heading("Three", 2)), first_line=3)
    document = Document("d", "", TEXT, outline=outline)
    at = TEXT.index("gamma")
    location = location_of(document, at, at + 5)
    assert (location.headings, location.line, location.last_line) == (("One", "Three"), 8, 8)
    assert location.shown() == "One > Three, line 8"
    assert location_of(document, 0, len(TEXT)).shown() == "One; One > Two; One > Three, lines 3-8"


def test_the_marks_before_a_heading_belong_to_it() -> None:
    text = "Before.\n\n## Notice\n\nSix weeks."
    start = text.index("Notice")
    document = Document("d", "", text, outline=Outline((Heading(start, start + 6, 2),), first_line=1))
    assert location_of(document, text.index("##"), len(text)).shown() == "Notice, lines 3-5"
    assert location_of(document, start - 4, len(text)).shown() == "Notice, lines 2-5"
    assert location_of(document, 0, len(text)).shown() == "Notice, lines 1-5"


def test_pages_of_which_some_are_empty() -> None:
    document = Document("d", "", TEXT, outline=Outline(pages=(0, 4, 4, 10), first_line=0))
    assert location_of(document, 0, 3).shown() == "page 1"
    assert location_of(document, 4, 9).shown() == "page 3"  # page 2 has no text
    assert location_of(document, 4, 12).shown() == "pages 3-4"


def test_nothing_known_is_nothing_said_and_what_lies_outside_is_an_error() -> None:
    document = Document("d", "", TEXT, outline=Outline(first_line=0))
    assert location_of(document, 0, 1).shown() == ""
    for start, end in ((-1, 2), (3, 3), (0, len(TEXT) + 1)):
        with pytest.raises(ValueError, match="not a span"):
            location_of(document, start, end)


def test_an_outline_must_fit_its_text_and_be_in_order() -> None:
    with pytest.raises(ValueError, match="beyond"):
        Document("d", "", "short", outline=Outline(pages=(0, 6)))
    with pytest.raises(ValueError, match="pages"):
        Outline(pages=(3, 2))
    with pytest.raises(ValueError, match="order"):
        Outline((Heading(4, 6, 1), Heading(0, 5, 1)))
    for start, end, level in ((2, 2, 1), (-1, 2, 1), (0, 2, 0), (0, 2, 10)):
        with pytest.raises(ValueError, match="heading"):
            Heading(start, end, level)


@given(
    st.lists(st.integers(0, 50), max_size=5),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9))),
    st.integers(0, 9),
)
def test_json_keeps_an_outline_and_the_default_is_empty(
    pages: list[int], steps: list[tuple[int, int]], line: int
) -> None:
    headings, at = [], 0
    for gap, level in steps:
        headings.append(Heading(at + gap, at + gap + 2, level))
        at += gap + 2
    outline = Outline(tuple(headings), tuple(sorted(pages)), line)
    assert Outline.from_json(outline.to_json()) == outline
    assert Outline().to_json() == {}
    assert Outline.from_json(None) == Outline()


def _document(text: str) -> Document:
    return Document("d.md", "", text, outline=Outline(markdown_headings(text)))


def test_a_stretch_of_several_sections_names_each_that_it_has_words_of() -> None:
    text = "# Fees\n\nTwo euros.\n\n# Notice\n\nSix weeks.\n\n# Moving\n\nBy van.\n\n# Pets\n\nNone.\n\n# Keys\n"
    document = _document(text)
    assert location_of(document, 0, text.index("# Moving")).shown().startswith("Fees; Notice, ")
    assert location_of(document, text.index("# Fees"), len(text)).shown().startswith("Fees to Pets, ")
    # A heading at the end belongs to the text below it, which is not in the span.
    assert location_of(document, text.index("None"), len(text)).sections == (("Pets",),)
    assert location_of(document, text.index("Two"), text.index("Six") - 2).sections == (("Fees",),)
    assert location_of(document, text.index("# Keys"), len(text)).sections == (("Keys",),)


@pytest.mark.parametrize(
    ("name", "row", "shown"),
    [
        ("people.csv#17", "17", "people.csv row 17"),
        ("book.xlsx#Prices!3", "3", "book.xlsx#Prices row 3"),
        ("A-1023", "5", "row 5"),
        ("people.csv#17", "front", "line 1"),
        ("notes#7", "", "line 1"),
    ],
)
def test_a_data_row_is_named_by_its_file_and_row(name: str, row: str, shown: str) -> None:
    document = Document(name, "", "name: Ada", (("row", row),) if row else ())
    assert location_of(document, 0, 9).shown() == shown
