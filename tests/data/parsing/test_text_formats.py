from __future__ import annotations

import codecs
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.documents import Document
from data.loaders import Refused
from data.outline import Heading, Outline
from data.parsing.decoding import decode
from data.parsing.errors import ParseError
from data.parsing.markdown import markdown_headings

Read = Callable[..., list[Document | Refused]]
One = Callable[..., Document]
PIECES = [*"<>/!-[]&;=\"' ahp1\n\0é", "<h1>", "</h1>", "<pre>", "<!--", "&#xd800;", "<td>", "<title>"]


def reason(items: list[Document | Refused]) -> str:
    [item] = items
    assert isinstance(item, Refused), item
    return item.reason


def headings(document: Document) -> list[tuple[int, str]]:
    return [(h.level, document.text[h.start : h.end]) for h in document.outline.headings]


def test_encodings_by_mark_then_utf8_then_windows_1252_with_a_note(here: Read, one: One) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        document = one(here("a.txt", "Zoë\r\nça\rva 😀".encode(encoding)))
        assert document.text == "Zoë\nça\nva 😀"
        assert not document.metadata
    guessed = one(here("a.txt", "Zoë’s café".encode("cp1252")))
    assert guessed.text == "Zoë’s café"
    assert guessed.metadata == (("encoding", "windows-1252"),)


def test_composed_and_decomposed_letters_stay_as_they_were_written(here: Read, one: One) -> None:
    text = "e\u0301 é \u200f\u05e9\u05dc\u05d5\u05dd 👩‍👩‍👧"
    assert one(here("a.txt", text)).text == text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"caf\xc3\xa9 na\xc3\xafve \xff", "not UTF-8 at byte 13"),  # damaged UTF-8, not another encoding
        (b"cut \xe2\x82", "not UTF-8 at byte 4"),
        (b"\x81\x8d", "not UTF-8 at byte 0"),  # no letters in Windows-1252 either
        (b"\x02\x03\xff", "not UTF-8 at byte 2"),  # control characters: not text at all
        (codecs.BOM_UTF16_LE + b"\x00\xd8a\x00", "starts as UTF-16 but is invalid at byte"),
        (codecs.BOM_UTF16_BE + b"\x00a\x00", "starts as UTF-16 but is invalid at byte"),
        ("a\0b".encode("utf-16"), "NUL character at character 1"),
        ("abc".encode("utf-32"), "binary"),
    ],
)
def test_what_is_no_text_says_at_which_byte(here: Read, content: bytes, says: str) -> None:
    assert says in reason(here("a.txt", content))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_decode_to_sound_text_or_a_reason(content: bytes) -> None:
    try:
        decoded = decode(content)
    except ParseError as error:
        assert str(error)
        return
    decoded.text.encode()
    assert "\r" not in decoded.text
    assert "\0" not in decoded.text


def test_markdown_headings_are_those_of_commonmark(here: Read, one: One) -> None:
    source = (
        "# Title\n\nIntro\n\n## One ##\n```\n# code\n```\n    # indented\n\nTwo *words*\n===\n> ### Quoted\n\n#no\n#\n"
    )
    document = one(here("a.md", source))
    assert document.title == "Title"
    assert headings(document) == [(2, "One"), (1, "Two *words*"), (3, "Quoted")]
    assert source[source.index("Intro") :].rstrip() == document.text
    assert document.outline.first_line == 3


def test_front_matter_is_no_heading(here: Read, one: One) -> None:
    document = one(here("a.md", "---\ntitle: x\n---\n\n# Real\ntext"))
    assert headings(document) == [(1, "Real")]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("#=- \n`>ab\t\u2028é😀*1."), max_size=60))
def test_headings_of_any_markdown_lie_in_it(text: str) -> None:
    found = markdown_headings(text)
    outline = Outline(found)
    assert outline.end <= len(text)
    assert all("\n" not in text[h.start : h.end] for h in found)


def test_a_page_gives_text_headings_address_and_language(here: Read, one: One) -> None:
    source = """<!doctype html><html lang="en-GB"><head><title>Pump &amp; hose</title>
    <meta property="og:url" content="https://x/og"><link rel="canonical" href="https://x/pump">
    <style>p { color: red }</style><script>if (a < b) { document.write("<h1>no</h1>") }</script></head>
    <body><h1>The <em>pump</em></h1><p>It  pumps&nbsp;water.<br>Daily.</p><noscript>off</noscript>
    <ul><li>one</li><li>two</ul><table><tr><th>part<th>price<tr><td>valve<td>3&euro;</table>
    <pre>  code
    here</pre><h2></h2><H2>Hose</H2><![if !IE]>No.<![endif]><template><p>unseen</template></body></html>"""
    document = one(here("a.html", source))
    assert document.title == "Pump & hose"
    assert document.text == (
        "The pump\n\nIt pumps water.\nDaily.\n\noff"
        "\n\none\ntwo\n\npart\tprice\nvalve\t3€\n\n  code\n    here\n\nHose\n\nNo."
    )
    assert headings(document) == [(1, "The pump"), (2, "Hose")]
    assert dict(document.metadata) == {"language": "en-GB", "url": "https://x/pump"}
    assert document.outline.first_line == 0


def test_a_page_says_its_encoding_and_its_first_heading_may_be_its_title(here: Read, one: One) -> None:
    source = '<meta charset="koi8-r"><h1>Насос</h1>'.encode("koi8-r")
    document = one(here("a.htm", source))
    assert (document.title, document.text) == ("Насос", "Насос")
    assert one(here("b.html", "<meta charset=latin1><p>caf\xe9 \x93x\x94".encode("latin-1"))).text == "café “x”"
    assert one(here("c.html", b'<meta charset="rot13"><p>abc')).text == "abc"  # no encoding of text


@pytest.mark.parametrize("source", ["<html></html>", "<script>x</script>", "<title>only this</title>"])
def test_a_page_without_text_is_refused(here: Read, source: str) -> None:
    assert "text" in reason(here("a.html", source))


def test_nested_tags_cost_no_stack(here: Read, one: One) -> None:
    document = one(here("a.html", "<div>" * 20_000 + "deep" + "<b><p>" * 10_000))
    assert document.text == "deep"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_page_gives_a_sound_document_or_a_reason(text: str) -> None:
    import io

    from data.parsing.limits import ParsingLimits
    from data.parsing.origin import Origin
    from data.parsing.web_pages import parse_web_page

    try:
        [document] = parse_web_page(io.BytesIO(text.encode("utf-8", "replace")), Origin("x", "x"), ParsingLimits())
    except ParseError:
        return
    document.text.encode()
    assert document.outline.end <= len(document.text)
    assert all(isinstance(heading, Heading) for heading in document.outline.headings)
