"""Content of PDFs: missing spaces, fonts without letters, fields, annotations, pages without text."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject

from data.documents import Document
from data.loaders import Refused
from data.parsing.pdf_letters import lacks_spaces, page_list, unusable_text_reason

Read = Callable[..., list[Document | Refused]]
Make = Callable[..., bytes]

SENTENCE = "the pump is delivered with a filter and spare parts for it are sold apart in two sizes from the works"
WORDS = SENTENCE.split()
WIDTHS = 556


def document(items: list[Document | Refused]) -> Document:
    [found] = [item for item in items if isinstance(item, Document)]
    return found


def with_widths(content: bytes) -> bytes:
    """Return the PDF with a width of 556 for every character of its font, including the space."""
    writer = PdfWriter(clone_from=io.BytesIO(content))
    font = writer.pages[0]["/Resources"]["/Font"]["/F1"].get_object()
    font[NameObject("/FirstChar")] = NumberObject(32)
    font[NameObject("/LastChar")] = NumberObject(126)
    font[NameObject("/Widths")] = ArrayObject(NumberObject(WIDTHS) for _ in range(95))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def kerned(gap: int) -> bytes:
    lines = [WORDS[:7], WORDS[7:14], WORDS[14:]] * 2
    shown = b" T* ".join(b"[" + b" ".join(b"(%s) %d" % (w.encode(), -gap) for w in line) + b"] TJ" for line in lines)
    return b"BT /F1 10 Tf 12 TL 20 700 Td " + shown + b" ET"


@pytest.mark.parametrize("gap", [130, 160, 200, 250])
def test_missing_spaces_are_rebuilt_from_the_distances_of_letters(here: Read, make_pdf: Make, gap: int) -> None:
    found = document(here("a.pdf", with_widths(make_pdf([kerned(gap)]))))
    assert " ".join(found.text.split()) == f"{SENTENCE} {SENTENCE}"


def test_spaces_that_cannot_be_rebuilt_are_said_with_the_page(here: Read, make_pdf: Make) -> None:
    items = here("a.pdf", make_pdf(["Cover page.", SENTENCE.replace(" ", "") + "\n" + SENTENCE.replace(" ", "")]))
    [expected] = [item for item in items if isinstance(item, Refused)]
    assert (expected.kind, expected.where.endswith("page 2")) == ("note", True)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (SENTENCE * 3, False),
        (SENTENCE.replace(" ", "") * 3, True),
        ("水泵附带过滤器。" * 40, False),
        ("Donaudampfschifffahrtsgesellschaft ist ein langes Wort, aber die anderen sind es nicht. " * 3, False),
        ("https://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaa", False),
    ],
)
def test_the_mean_length_of_words_tells(text: str, lacks: bool) -> None:
    assert lacks_spaces(text) is lacks


@pytest.mark.parametrize(
    "text", ["/g12/g13/g5 /g7/g44", "(cid:12)(cid:88)(cid:3)", "/C0007/C0012 /C0044", "\x03\x14\x15 \x16a"]
)
def test_names_and_codes_are_no_letters(text: str) -> None:
    assert unusable_text_reason(text * 5)


@pytest.mark.parametrize("text", ["", "The path /var/log2 and km/h 5.", "水泵", "and/or 24/7 A/B 1/2", "ปั๊มน้ำ"])
def test_text_is_letters(text: str) -> None:
    assert not unusable_text_reason(text)


def test_pages_of_pictures_are_named_and_blank_ones_are_not(here: Read, make_pdf: Make) -> None:
    drawing = b"0 0 m 100 100 l S\n" * 30
    items = here("a.pdf", make_pdf(["Words.", drawing, "", drawing, drawing]))
    [expected] = [item for item in items if isinstance(item, Refused)]
    assert (expected.kind, expected.where.endswith("pages 2, 4-5")) == ("part", True)
    assert document(items).text == "Words."


def test_lists_of_pages() -> None:
    assert page_list([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


def annotated(content: bytes, *annotations: dict[str, object]) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    added = ArrayObject()
    for annotation in annotations:
        entry = DictionaryObject({NameObject("/Type"): NameObject("/Annot")})
        for key, value in annotation.items():
            kept = (
                value
                if not isinstance(value, str)
                else NameObject(value)
                if value[:1] == "/"
                else TextStringObject(value)
            )
            entry[NameObject(f"/{key}")] = kept  # type: ignore[assignment]
        added.append(writer._add_object(entry))
    writer.pages[0][NameObject("/Annots")] = added
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_values_of_fields_and_annotations_are_text(here: Read, make_pdf: Make) -> None:
    filled = annotated(
        make_pdf(["Order form"]),
        {"Subtype": "/Widget", "FT": "/Tx", "T": "contact_person", "V": "Ada Berg"},
        {"Subtype": "/Widget", "FT": "/Tx", "T": "f1_02[0]", "V": "Room 12"},
        {"Subtype": "/Widget", "FT": "/Tx", "TU": "Delivery date:", "T": "x", "V": "3 May"},
        {"Subtype": "/Widget", "FT": "/Btn", "T": "express", "V": "/Yes", "AS": "/Yes"},
        {"Subtype": "/Widget", "FT": "/Btn", "T": "gift", "V": "/Off"},
        {
            "Subtype": "/Widget",
            "FT": "/Ch",
            "T": "size",
            "V": ArrayObject([TextStringObject("M"), TextStringObject("L")]),
        },
        {"Subtype": "/Widget", "FT": "/Tx", "T": "secret", "V": "swordfish", "Ff": NumberObject(1 << 13)},
        {"Subtype": "/FreeText", "Contents": "Paid on receipt."},
        {"Subtype": "/Link", "Contents": "no"},
    )
    assert document(here("a.pdf", filled)).text.split("\n") == [
        "Order form",
        "contact person: Ada Berg",
        "Room 12",
        "Delivery date: 3 May",
        "express: Yes",
        "size: M, L",
        "Paid on receipt.",
    ]


def test_a_form_without_other_text_is_no_scan(here: Read, make_pdf: Make) -> None:
    filled = annotated(make_pdf([""]), {"Subtype": "/Widget", "FT": "/Tx", "T": "name", "V": "Ada Berg"})
    assert document(here("a.pdf", filled)).text == "name: Ada Berg"
