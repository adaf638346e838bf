"""Slides, sheets, text documents, books, rich text and mails that libraries wrote, and zip bombs in their formats."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable
from email.message import EmailMessage

import odfdo
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from data.documents import Document
from data.loaders import Refused

Read = Callable[..., list[Document | Refused]]


def documents(items: list[Document | Refused]) -> list[Document]:
    return [item for item in items if isinstance(item, Document)]


def slides() -> bytes:
    presentation = pptx.Presentation()
    presentation.core_properties.title, presentation.core_properties.author = "Pumps", "A. Writer"
    first = presentation.slides.add_slide(presentation.slide_layouts[5])
    first.shapes.title.text = "Filters"
    box = first.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame
    box.text = "Change it after 10"
    raised = box.paragraphs[0].add_run()
    raised.text = "3"
    raised.font._element.set("baseline", "30000")
    box.paragraphs[0].add_run().text = " litres."
    table = first.shapes.add_table(2, 3, 0, 0, Inches(4), Inches(1)).table
    for place, expected in {(0, 0): "Model", (0, 2): "Price", (1, 0): "Heron", (1, 2): "900"}.items():
        table.cell(*place).text = expected
    first.notes_slide.notes_text_frame.text = "Say it slowly."
    second = presentation.slides.add_slide(presentation.slide_layouts[5])
    second.shapes.title.text = "Prices"
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def test_slides_are_pages_with_titles_tables_and_notes(here: Read) -> None:
    [document] = documents(here("a.pptx", slides()))
    assert (document.title, dict(document.metadata)) == ("Pumps", {"author": "A. Writer", "pages": "2"})
    assert "Change it after 10^3 litres." in document.text
    assert "Model\t\tPrice\nHeron\t\t900" in document.text
    assert "Say it slowly." in document.text
    assert [document.text[h.start : h.end] for h in document.outline.headings] == ["Filters", "Prices"]
    assert document.text[document.outline.pages[1] :].startswith("Prices")


def sheets() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Stock"
    for row in (["Stock of May"], [], ["id", "part", "price", "since", "share"], [1, "valve", 3.5, None, 0.25]):
        sheet.append(row)
    sheet["D4"] = datetime.datetime(2024, 5, 1)
    sheet["E4"].number_format = "0%"
    sheet.append([2, None, 1200.0])
    other = book.create_sheet("Staff")
    other.append(["id", "name", "name"])
    other.append([1, "Ada", "Berg"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_rows_of_every_sheet_are_documents_of_their_own(here: Read) -> None:
    found = {document.id: document for document in documents(here("a.xlsx", sheets()))}
    assert {key: document.text for key, document in found.items()} == {
        "a.xlsx#Stock!1": "Stock of May",
        "1": "part: valve\nprice: 3.5\nsince: 2024-05-01\nshare: 25 %",
        "2": "price: 1200",
        "Staff!1": "name: Ada\nname (2): Berg",
    }
    assert dict(found["2"].metadata) == {"sheet": "Stock", "row": "5"}


def odt() -> bytes:
    made = odfdo.Document("text")
    made.meta.title = "Pumps"
    body = made.body
    body.clear()
    body.append(odfdo.Header(1, "Filters"))
    body.append(odfdo.Paragraph("Change the filter. "))
    table = odfdo.Table("t", width=3, height=2)
    for place, expected in {"A1": "Model", "C1": "Price", "A2": "Heron", "C2": "900"}.items():
        table.set_value(place, expected)
    body.append(table)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_text_documents_keep_headings_and_columns(here: Read) -> None:
    [document] = documents(here("a.odt", odt()))
    assert document.title == "Pumps"
    assert document.text == "Filters\n\nChange the filter.\n\nModel\t\tPrice\nHeron\t\t900"
    assert [document.text[h.start : h.end] for h in document.outline.headings] == ["Filters"]


CONTAINER = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>"


def epub(**more: str) -> bytes:
    package = (
        "<package xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata><dc:title>Pumps</dc:title><dc:creator>A. W."
        "</dc:creator><dc:language>en</dc:language></metadata><manifest><item id='b' href='two%20b.xhtml' "
        "media-type='application/xhtml+xml'/><item id='a' href='one.xhtml' media-type='application/xhtml+xml'/>"
        "<item id='c' href='gone.xhtml' media-type='application/xhtml+xml'/></manifest>"
        "<spine><itemref idref='a'/><itemref idref='b'/><itemref idref='c'/></spine></package>"
    )
    parts = {"META-INF/container.xml": CONTAINER, "OPS/book.opf": package, **more}
    parts |= {"OPS/one.xhtml": "<!DOCTYPE html><h1>One</h1><p>10<sup>3</sup>", "OPS/two b.xhtml": "<h1>Two</h1><p>End."}
    return zipped(parts)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_books_are_read_in_the_order_of_their_spine(here: Read) -> None:
    items = here("a.epub", epub())
    [document] = documents(items)
    assert (document.title, document.text) == ("Pumps", "One\n\n10^3\n\nTwo\n\nEnd.")
    assert dict(document.metadata) == {"author": "A. W.", "language": "en"}
    [lost] = [item for item in items if isinstance(item, Refused)]
    assert (lost.kind, lost.where.endswith("OPS/gone.xhtml")) == ("part", True)


def test_a_locked_book_is_refused(here: Read) -> None:
    [item] = here("a.epub", epub(**{"META-INF/rights.xml": "<rights/>"}))
    assert isinstance(item, Refused)
    assert "DRM" in item.reason


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"{\rtf1\ansi\ansicpg1251 \'cd\'e0\'f1\'ee\'f1\par End.}", "Насос\nEnd."),
        (r"{\rtf1\ansi A tank of 10{\up6 4} and CO{\dn4 2}.}", "A tank of 10^4 and CO_2."),
        (r"{\rtf1\ansi A yard of 10{\super 3} and H{\sub 2}O.}", "A yard of 10^3 and H_2O."),
        (r"{\rtf1\ansi\trowd a\cell\cell b\cell\row}", "a\t\tb"),
    ],
)
def test_rich_text(here: Read, source: str, shown: str) -> None:
    [document] = documents(here("a.rtf", source))
    assert document.text == shown


def mail() -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Größe der Pumpe", "Ada <ada@example.org>", "bo@example.org"
    message.set_content("The pump fits.\n")
    message.add_alternative("<p>The pump <b>fits</b>.", subtype="html")
    return message


def test_mails_with_attachments(here: Read) -> None:
    message = mail()
    message.add_attachment("id,text\n1,Valve\n", filename="parts.csv")
    message.add_attachment(b"\x89PNG\r\n\0", maintype="image", subtype="png", filename="p.png")
    message.add_attachment(mail())
    items = here("a.eml", message.as_bytes())
    assert [document.id for document in documents(items)] == ["a.eml", "1", "a.eml/part 3.eml"]
    first = documents(items)[0]
    assert first.title == "Größe der Pumpe"
    assert first.text == "From: Ada <ada@example.org>\nTo: bo@example.org\n\nThe pump fits."
    assert [item.where.endswith("p.png") for item in items if isinstance(item, Refused)] == [True]


def test_a_mail_of_html_only_in_another_encoding(here: Read) -> None:
    message = EmailMessage()
    message["Subject"] = "s"
    message.set_content("<p>Насос 10<sup>3</sup>", subtype="html", charset="koi8-r")
    [document] = documents(here("a.eml", message.as_bytes()))
    assert document.text == "Насос 10^3"


NEEDED = {
    "pptx": "ppt/presentation.xml",
    "xlsx": "xl/workbook.xml",
    "odt": "content.xml",
    "epub": "META-INF/container.xml",
}
LAUGHS = "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><x>&b;</x>"


@pytest.mark.parametrize("kind", NEEDED)
def test_entities_bombs_and_other_zips_are_refused(here: Read, kind: str) -> None:
    def refused(parts: dict[str, str | bytes], **limits: int) -> str:
        [item] = here(f"a.{kind}", zipped(parts), **limits)
        assert isinstance(item, Refused)
        return item.reason

    assert "declaration" in refused({NEEDED[kind]: LAUGHS})
    assert "declaration" in refused({NEEDED[kind]: "<x/>", "other.xml": f"<!-- {'x' * 100_000} -->{LAUGHS}"})
    assert "declaration" in refused({NEEDED[kind]: LAUGHS.encode("utf-16")})
    assert "100,000" in refused({NEEDED[kind]: "<x/>", "media/a.bin": b"\0" * 100_001}, file_bytes=100_000)
    assert NEEDED[kind] in refused({"a.txt": "x"})
    assert "password" in refused({"EncryptedPackage": "x"})


@pytest.mark.parametrize("kind", [*NEEDED, "rtf", "eml"])
def test_damaged_files_cost_themselves_only(here: Read, kind: str) -> None:
    for content in (b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0 old", b"text"):
        [item] = here(f"a.{kind}", content)
        assert isinstance(item, Refused)
        assert item.kind == "file"


@pytest.mark.parametrize("make", [slides, sheets, odt])
def test_a_child_within_its_limits_reads_them(apart: Read, make: Callable[[], bytes]) -> None:
    kind = {slides: "pptx", sheets: "xlsx", odt: "odt"}[make]
    assert documents(apart({f"a.{kind}": make()}))
