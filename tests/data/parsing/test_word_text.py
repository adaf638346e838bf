"""Text of .docx files that is not stored as plain text: numbers, symbols, text boxes, embedded parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused
from data.parsing.word_numbering import formatted_number

Read = Callable[..., list[Document | Refused]]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:r="r" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def docx(body: str, **parts: str | bytes) -> bytes:
    """Return a .docx file. parts: content by name, with __ for / and _DOT_ for a dot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), content)
    return buffer.getvalue()


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def text(here: Read, content: bytes) -> str:
    [document] = [item for item in here("a.docx", content) if isinstance(item, Document)]
    return document.text


UP, DOWN = "<w:vertAlign w:val='superscript'/>", "<w:vertAlign w:val='subscript'/>"


def test_raised_runs_keep_their_meaning(here: Read) -> None:
    body = paragraph(
        run("2"), run("1", UP), run("6", UP), run(" bits, H"), run("2", DOWN), run("O, 2,400"), run("7", UP)
    )
    assert text(here, docx(body)) == "2^16 bits, H2O, 2,400 [7]"


def test_a_style_may_raise(here: Read) -> None:
    styles = f"<w:styles xmlns:w='{W}'><w:style w:styleId='Up'><w:rPr>{UP}</w:rPr></w:style></w:styles>"
    body = paragraph(run("10"), run("9", "<w:rStyle w:val='Up'/>"))
    assert text(here, docx(body, word__styles_DOT_xml=styles)) == "10^9"


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<m:f><m:num><m:r><m:t>3</m:t></m:r></m:num><m:den><m:r><m:t>4</m:t></m:r></m:den></m:f>", "3/4"),
        ("<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>", "x^2"),
        ("<m:rad><m:radPr/><m:deg/><m:e><m:r><m:t>7</m:t></m:r></m:e></m:rad>", "√(7)"),
        (
            "<m:d><m:dPr><m:begChr m:val='|'/><m:endChr m:val='|'/></m:dPr><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d>",
            "|x|",
        ),
    ],
)
def test_formulas_are_text(here: Read, markup: str, shown: str) -> None:
    assert text(here, docx(paragraph(run("It is "), f"<m:oMath>{markup}</m:oMath>", run(".")))) == f"It is {shown}."


def test_symbols_are_characters(here: Read) -> None:
    symbols = "".join(
        f"<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>"
        for font, code in (("Symbol", "F0B3"), ("Symbol", "F06D"), ("Symbol", "00B1"), ("Wingdings", "F0FC"))
    )
    assert text(here, docx(paragraph(run("a "), symbols, run("\uf0a3", "<w:rFonts w:ascii='Symbol'/>")))) == "a ≥μ±✓≤"


def numbering(*levels: tuple[str, str]) -> str:
    inside = "".join(
        f"<w:lvl w:ilvl='{n}'><w:start w:val='1'/><w:numFmt w:val='{kind}'/><w:lvlText w:val='{shown}'/></w:lvl>"
        for n, (kind, shown) in enumerate(levels)
    )
    return (
        f"<w:numbering xmlns:w='{W}'><w:abstractNum w:abstractNumId='3'>{inside}</w:abstractNum>"
        "<w:num w:numId='1'><w:abstractNumId w:val='3'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='3'/>"
        "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride></w:num></w:numbering>"
    )


def numbered(expected: str, level: int, num: int = 1) -> str:
    return paragraph(run(expected), properties=f"<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{num}'/></w:numPr>")


def test_automatic_numbers_count_by_level_and_list(here: Read) -> None:
    lists = numbering(("upperRoman", "Art. %1"), ("decimal", "%1.%2"), ("lowerLetter", "%3)"), ("bullet", "•"))
    places = (("A", 0), ("B", 1), ("C", 2), ("D", 2), ("E", 1), ("F", 2), ("G", 0), ("H", 1), ("I", 3))
    body = "".join(numbered(expected, level) for expected, level in places)
    body += numbered("J", 0, num=2) + numbered("K", 0, num=0)
    assert text(here, docx(body, word__numbering_DOT_xml=lists)).split("\n\n") == [
        "Art. I A", "I.1 B", "a) C", "b) D", "I.2 E", "a) F", "Art. II G", "II.1 H", "I", "Art. V J", "K",
    ]  # fmt: skip


def test_a_style_may_number_and_its_headings_carry_the_number(here: Read) -> None:
    styles = (
        f"<w:styles xmlns:w='{W}'><w:style w:styleId='H'><w:name w:val='heading 1'/><w:pPr><w:numPr>"
        "<w:numId w:val='1'/></w:numPr></w:pPr></w:style></w:styles>"
    )
    content = docx(
        paragraph(run("Scope"), properties="<w:pStyle w:val='H'/>"),
        word__styles_DOT_xml=styles,
        word__numbering_DOT_xml=numbering(("decimal", "%1.")),
    )
    [document] = here("a.docx", content)
    assert isinstance(document, Document)
    [heading] = document.outline.headings
    assert document.text[heading.start : heading.end] == "1. Scope"


@pytest.mark.parametrize(
    ("number", "kind", "shown"),
    [
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (28, "lowerLetter", "bb"),
        (7, "decimalZero", "07"),
        (3, "hindiNumbers", "3"),
    ],
)
def test_formats_of_numbers(number: int, kind: str, shown: str) -> None:
    assert formatted_number(number, kind) == shown


def test_boxes_of_both_kinds_are_read_once(here: Read) -> None:
    box = f"<w:txbxContent>{paragraph(run('Boxed.'))}</w:txbxContent>"
    old = f"<w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict>"
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    for markup in (old, both):
        found = text(
            here, docx(paragraph(run("Before.")) + paragraph(f"<w:r>{markup}</w:r>") + paragraph(run("After.")))
        )
        assert found.split("\n\n") == ["Before.", "Boxed.", "After."]


def test_put_in_parts_are_read_where_they_stand_and_lost_ones_named(here: Read) -> None:
    body = paragraph(run("A")) + "".join(f"<w:altChunk r:id='{n}'/>" for n in (1, 2, 3, 4)) + paragraph(run("Z"))
    targets = enumerate(("one.html", "/word/two.txt", "in/three.docx", "four.rtf"), start=1)
    relations = "".join(f"<Relationship Id='{n}' Target='{target}'/>" for n, target in targets)
    items = here(
        "a.docx",
        docx(
            body,
            word___rels__document_DOT_xml_DOT_rels=f"<Relationships>{relations}</Relationships>",
            word__one_DOT_html="<p>One<sup>2</sup></p>",
            word__two_DOT_txt="Two",
            word__in__three_DOT_docx=docx(paragraph(run("Three"))),
        ),
    )
    [document] = [item for item in items if isinstance(item, Document)]
    assert document.text.split("\n\n") == ["A", "One [2]", "Two", "Three", "Z"]
    [lost] = [item for item in items if isinstance(item, Refused)]
    assert (lost.kind, lost.where.endswith("four.rtf")) == ("part", True)


def test_spans_of_cells_hold_their_columns(here: Read) -> None:
    def cell(expected: str, span: str = "") -> str:
        return f"<w:tc><w:tcPr>{span}</w:tcPr>{paragraph(run(expected) if expected else '')}</w:tc>"

    wide, below = "<w:gridSpan w:val='2'/>", "<w:vMerge/>"
    rows = [cell("a", wide) + cell("b"), cell("", below) + cell("c") + cell("d")]
    table = (
        "".join(f"<w:tr>{row}</w:tr>" for row in rows)
        + f"<w:tr><w:trPr><w:gridBefore w:val='2'/></w:trPr>{cell('e')}</w:tr>"
    )
    assert text(here, docx(f"<w:tbl>{table}</w:tbl>")) == "a\t\tb\n\tc\td\n\t\te"


def test_a_position_may_raise_and_lower(here: Read) -> None:
    up, down = "<w:position w:val='8'/>", "<w:position w:val='-6'/>"
    body = paragraph(run("10"), run("5", up), run(" t of CO"), run("2", down), run(", 640"), run("3", up), run(" t"))
    assert text(here, docx(body)) == "10^5 t of CO2, 640 [3] t"


def test_a_style_may_raise_by_its_position(here: Read) -> None:
    styles = (
        f"<w:styles xmlns:w='{W}'><w:style w:styleId='Up'><w:rPr><w:position w:val='7'/></w:rPr></w:style></w:styles>"
    )
    body = paragraph(run("2"), run("12", "<w:rStyle w:val='Up'/>"), run(" words"))
    assert text(here, docx(body, word__styles_DOT_xml=styles)) == "2^12 words"
