"""Fixtures that write files of every format by hand, so that the repository has no binary files, and parse them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from data.documents import Document
from data.loaders import Refused
from data.parsing.files import parse_file
from data.parsing.limits import ParsingLimits
from data.parsing.origin import NumberedDocument, Origin
from data.parsing.pool import FileToParse, parse_files

Read = Callable[..., list[Document | Refused]]
MakePdf = Callable[..., bytes]
MakeDocx = Callable[..., bytes]
MakeZip = Callable[..., bytes]


@pytest.fixture
def here(tmp_path: Path) -> Read:
    """A function ``here(name, content, **limits)`` that parses content in this process."""

    def read(name: str, content: bytes | str, **limits: int) -> list[Document | Refused]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        items = parse_file(path, Origin(str(path), name), ParsingLimits(**limits))
        return [item.document if isinstance(item, NumberedDocument) else item for item in items]

    return read


@pytest.fixture
def apart(tmp_path: Path) -> Read:
    """A function ``apart({name: content}, **limits)`` that parses content in a child process, as for users' files."""

    def read(files: dict[str, bytes | str], **limits: int) -> list[Document | Refused]:
        found: list[FileToParse | Refused] = []
        for name, content in files.items():
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            found.append(FileToParse(path, Origin(name, name)))
        items = (parsed.item for parsed in parse_files(found, ParsingLimits(**limits)))
        return [item.document if isinstance(item, NumberedDocument) else item for item in items]

    return read


@pytest.fixture
def make_pdf() -> MakePdf:
    """A function that returns a PDF with one content stream per page. bookmarks: (title, page from 0)."""

    def pdf(
        pages: Sequence[str | bytes],
        title: str = "",
        bookmarks: Sequence[tuple[str, int]] = (),
        packed: bool = False,
        catalog: bytes = b"",
    ) -> bytes:
        first_page = 4
        first_content = first_page + len(pages)
        first_mark = first_content + len(pages)
        kids = b" ".join(b"%d 0 R" % (first_page + n) for n in range(len(pages)))
        outlines = b""
        if bookmarks:
            outlines = b"/Outlines %d 0 R" % first_mark
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R " + outlines + catalog + b" >>",
            b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(pages),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
        for n in range(len(pages)):
            objects.append(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> "
                b"/Contents %d 0 R >>" % (first_content + n)
            )
        for page in pages:
            stream = page if isinstance(page, bytes) else _shown_lines(page)
            about = b"/Filter /FlateDecode " if packed else b""
            stream = zlib.compress(stream, 9) if packed else stream
            objects.append(b"<< " + about + b"/Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream")
        if bookmarks:
            last = first_mark + len(bookmarks)
            objects.append(b"<< /First %d 0 R /Last %d 0 R >>" % (first_mark + 1, last))
            for n, (words, page_number) in enumerate(bookmarks):
                follows = b"/Next %d 0 R " % (first_mark + n + 2) if n + 1 < len(bookmarks) else b""
                objects.append(
                    b"<< /Title (%s) /Parent %d 0 R %s/Dest [%d 0 R /Fit] >>"
                    % (words.encode(), first_mark, follows, first_page + page_number)
                )
        objects.append(b"<< /Title (%s) /Author (A. Writer) >>" % title.encode())
        out = io.BytesIO(b"")
        out.write(b"%PDF-1.4\n")
        places = []
        for number, content in enumerate(objects, start=1):
            places.append(out.tell())
            out.write(b"%d 0 obj\n" % number + content + b"\nendobj\n")
        table = out.tell()
        out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
        out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
        out.write(b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects)))
        out.write(b"startxref\n%d\n%%%%EOF\n" % table)
        return out.getvalue()

    return pdf


def _shown_lines(text: str) -> bytes:
    lines = b"".join(b"(%s) Tj T*\n" % line.encode("latin-1") for line in text.split("\n"))
    return b"BT /F1 12 Tf 14 TL 50 700 Td\n" + lines + b"ET" if text else b""


@pytest.fixture
def make_zip() -> MakeZip:
    """A function that returns a zip file with members in the given order."""

    def pack(members: dict[str, bytes | str]) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return out.getvalue()

    return pack


_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture
def make_docx(make_zip: MakeZip) -> MakeDocx:
    """A function that returns a .docx with the given body XML (prefix w), style names by ID, and title."""

    def docx(body: str, styles: dict[str, str] | None = None, title: str = "", before: str = "") -> bytes:
        named = "".join(
            f'<w:style w:styleId="{style}"><w:name w:val="{name}"/></w:style>' for style, name in (styles or {}).items()
        )
        return make_zip(
            {
                "[Content_Types].xml": "<Types/>",
                "word/document.xml": f'{before}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
                "word/styles.xml": f'<w:styles xmlns:w="{_W}">{named}</w:styles>',
                "docProps/core.xml": '<c xmlns:dc="http://purl.org/dc/elements/1.1/">'
                f"<dc:title>{title}</dc:title><dc:creator>A. Writer</dc:creator></c>",
            }
        )

    return docx


@pytest.fixture
def one() -> Callable[[Iterator[Document | Refused]], Document]:
    """Return the only item, which must be a document."""

    def only(items: Iterator[Document | Refused]) -> Document:
        [item] = items
        assert isinstance(item, Document), item
        return item

    return only
