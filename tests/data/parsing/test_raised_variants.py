"""Text that a style, a position or a link raises or lowers, and numbers followed by note marks or powers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused
from data.parsing.superscripts import raised_text
from data.parsing.word_styles import level_of

Read = Callable[..., list[Document | Refused]]


def text(here: Read, source: str) -> str:
    [document] = [item for item in here("a.html", source) if isinstance(item, Document)]
    return document.text


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("10<span style='vertical-align: super'>6</span> cells", "10^6 cells"),
        ("10<span style='font-size:60%;VERTICAL-ALIGN:Super'>6</span>", "10^6"),
        ("CO<span style='vertical-align:sub'>2</span> in x<i style='vertical-align: -3px'>0</i>", "CO2 in x_0"),
        ("2<font style='vertical-align:0.5em'><b>16</b></font> bits", "2^16 bits"),
        ("<span style='vertical-align:baseline'>10</span>3", "103"),
        ("2<span style='vertical-align:super'><span>8</span>0</span> x", "2^80 x"),
        ("the valve<a href='#fn2' class='footnote-ref'>2</a> closes", "the valve [2] closes"),
        ("costs 85<a role='doc-noteref' href='x.html#n'>3</a> francs", "costs 85 [3] francs"),
        ("costs 85<a href='#_ftn9'>[9]</a> francs", "costs 85[9] francs"),
        ("see <a href='#note-4'>the note on seals</a> below", "see the note on seals below"),
        ("page <a href='#p12'>12</a> and", "page 12 and"),
        ("10<sup><a epub:type='noteref' href='#n7'>7</a></sup> pumps", "10 [7] pumps"),
        ("a <sup>b<sup>c</sup></sup> d", "a bc d"),
        ("<p>area 10<sup>4<p>Next paragraph", "area 10^4\n\nNext paragraph"),
    ],
)
def test_styles_and_links_raise(here: Read, source: str, shown: str) -> None:
    assert text(here, f"<body>{source}</body>") == shown


@pytest.mark.parametrize(
    ("before", "content", "after", "written"),
    [
        ("300", "4", " euros", " [4]"),
        ("85", "12", " visitors", " [12]"),
        ("(45", "3", "), later", " [3]"),
        ("7", "2", ".", " [2]"),
        ("2", "10", " bytes", "^10"),
        ("10", "9", " cells", "^9"),
        ("110", "9", " cells", " [9]"),
        ("5", "2", " = 25", "^2"),
        ("=3", "4", ".", "^4"),
        ("7", "-2", " s", "^-2"),
        ("km", "2", " of forest", "^2"),
        ("m", "3", "", "^3"),
        ("of it", "3", " and", " [3]"),
        ("mi", "2", "", "^2"),
        ("x", "4", " euros", "^4"),
        ("$19", "99", " each", ".99"),
        ("24", "50", " €", ".50"),
        ("19", "99", " members", " [99]"),
    ],
)
def test_a_mark_behind_a_number_is_a_power_only_where_that_is_known(
    before: str, content: str, after: str, written: str
) -> None:
    assert raised_text(before, content, "sup", after) == written


def test_a_link_is_a_note_behind_any_base() -> None:
    assert raised_text("10", "3", "sup", " pumps", is_link=True) == " [3]"


@pytest.mark.parametrize(
    ("value", "level"), [("6", "sup"), ("-8", "sub"), ("1", ""), ("0", ""), ("high", ""), ("", "")]
)
def test_a_position_of_word_raises_by_more_than_a_point(value: str, level: str) -> None:
    assert level_of(value) == level
