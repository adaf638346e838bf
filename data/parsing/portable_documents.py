"""Parse .pdf files. A file becomes one document with the text of its pages and its bookmarks as headings."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from data.documents import Document
from data.outline import Heading, Outline
from data.parsing.decoding import one_line, storable_text
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.pdf_forms import has_xfa, page_notes, xfa_values
from data.parsing.pdf_letters import lacks_spaces, page_list, unusable_text_reason
from data.parsing.plain_text import read_limited
from data.parsing.text_builder import TextBuilder
from data.refused import Refused, note, part

_MAX_BOOKMARKS = 10_000
_MAX_BLANK_BYTES = 200
_WIDTH_FACTORS = (0.7, 0.6, 0.6)  # relative to the previous width, so in total 0.7, 0.42 and 0.25
_OCR_ADVICE = "Run OCR first, for example ocrmypdf --force-ocr"
_XFA_PLACEHOLDER = re.compile(r"\s*Please wait")
_TOOL_NAME = re.compile(
    r"^(microsoft (word|powerpoint|excel) - )|\.(docx?|pptx?|xlsx?|odt|tex|dvi|indd|pdf|rtf|txt)$", re.I
)
_NO_TITLE = re.compile(r"^(untitled|unbenannt|sans titre|document\d*|slide 1)?$", re.IGNORECASE)


def parse_pdf(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document | Refused]:
    """Yield the text of the pages, each on a new line and followed by its form values and annotations.

    Headings are the bookmarks whose words occur on the page that they point to. The metadata are ``author`` and
    ``pages`` (number of pages). Pages that are unreadable, have no text, or have fonts that do not map to letters are
    refused by number, and the others are kept. A note lists pages on which spaces between words are missing. Raises
    ParseError for a damaged or encrypted file, and for a file without text, such as a scan.
    """
    import io

    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # Problems are reported as refusals.
    raw = read_limited(file, limits.file_bytes)
    if b"%PDF-" not in raw[:1024]:
        raise ParseError("it is not a PDF (no %PDF- in its first 1,024 bytes)")
    try:
        reader = pypdf.PdfReader(io.BytesIO(raw), strict=False)
        _decrypt(reader)
        count = len(reader.pages)
    except DependencyError:
        raise ParseError(
            "it is encrypted with AES, which needs another package: pip install 'plumbline-rag[aes]', or save it "
            "without encryption, for example with qpdf --decrypt"
        ) from None
    except PyPdfError as error:
        raise ParseError(f"damaged: {one_line(str(error), 200)}") from None
    pages_read = _Pages(origin, count)
    for number in range(count):
        pages_read.add(number, reader)
    if has_xfa(reader):
        pages_read.add_form(xfa_values(reader))
    text, content = pages_read.text, pages_read.text.text()
    if not content:
        raise ParseError(pages_read.reason_without_text())
    yield from pages_read.refusals()
    pages = text.outline().pages
    yield Document(
        origin.document_id,
        _title(_information(reader, "/Title")),
        content,
        origin.metadata_with(("author", _information(reader, "/Author")), ("pages", str(count))),
        Outline(bookmarked_headings(content, pages, _bookmarks(reader)), pages, first_line=0),
    )


class _Pages:
    """The text of the pages that were read so far, and the pages with problems."""

    def __init__(self, origin: Origin, count: int) -> None:
        self.text = TextBuilder()
        self._origin, self._count = origin, count
        self._refused: list[Refused] = []
        self._without_text: list[int] = []
        self._without_letters: dict[str, list[int]] = {}
        self._without_spaces: list[int] = []

    def add(self, number: int, reader: Any) -> None:
        """Add a page. number: index of the page, from 0."""
        self.text.begin_page()
        notes: list[str] = []
        try:
            page = reader.pages[number]
            text = self._page_text(number + 1, page)
            notes = [line for line in page_notes(page) if line not in text]
            if not text and not notes and _has_content(page):
                self._without_text.append(number + 1)
        except MemoryError:
            raise
        except Exception as error:  # A damaged page fails in many ways, and the other pages may be readable.
            reason = one_line(f"{type(error).__name__}: {error}", 200)
            where = f"{self._origin.where} page {number + 1}"
            self._refused.append(part(where, f"the page cannot be read ({reason})"))
            return
        if not _XFA_PLACEHOLDER.match(text) or not has_xfa(reader):
            self.text.add_exactly(text)
        for line in notes:
            self.text.gap("\n")
            self.text.add_exactly(line)

    def add_form(self, lines: list[str]) -> None:
        """Add the values of an XFA form, which are not on any page."""
        for line in lines:
            self.text.gap("\n")
            self.text.add_exactly(line)

    def _page_text(self, page_number: int, page: Any) -> str:
        """Return the page's text. Missing spaces are restored, if possible, with a narrower width of the space."""
        text = str(page.extract_text()).strip()
        if reason := unusable_text_reason(text):
            self._without_letters.setdefault(reason, []).append(page_number)
            return ""
        if not lacks_spaces(text):
            return text
        for rebuilt in _with_narrower_spaces(page):
            if not lacks_spaces(rebuilt):
                return rebuilt
        self._without_spaces.append(page_number)
        return text

    def refusals(self) -> Iterator[Refused]:
        """Yield the refusals and notes of pages."""
        yield from self._refused
        for reason, pages in self._without_letters.items():
            yield part(self._where(pages), f"{reason}: {_OCR_ADVICE}")
        if self._without_text:
            yield part(self._where(self._without_text), f"no text, only images or drawings: a scan? {_OCR_ADVICE}")
        if self._without_spaces:
            yield note(
                self._where(self._without_spaces),
                "spaces between words are missing, so searches do not find these words",
            )

    def reason_without_text(self) -> str:
        """Return why the file has no text."""
        if self._without_letters:
            reason, pages = next(iter(self._without_letters.items()))
            return f"page{'s' if len(pages) > 1 else ''} {page_list(pages)}: {reason}. {_OCR_ADVICE}"
        if self._refused:
            return f"none of its {self._count} pages can be read; the first: {self._refused[0].reason}"
        have = "page has" if self._count == 1 else "pages have"
        return f"its {self._count} {have} no text: a scan? {_OCR_ADVICE}"

    def _where(self, pages: list[int]) -> str:
        return f"{self._origin.where} page{'s' if len(pages) > 1 else ''} {page_list(pages)}"


def _with_narrower_spaces(page: Any) -> Iterator[str]:
    """Yield the page's text, extracted again with narrower and narrower gaps counted as spaces.

    pypdf writes a space for a gap wider than half of the font's space, and some fonts declare a space that is too wide.
    The declared width is reduced in fonts that have a width for each character, but not in composite fonts.
    """
    try:
        resources = page["/Resources"].get_object()
        fonts = [font.get_object() for font in resources["/Font"].get_object().values()]
        spaces = [(font, 32 - int(font["/FirstChar"])) for font in fonts if "/Widths" in font and "/FirstChar" in font]
        for factor in _WIDTH_FACTORS:
            for font, index in spaces:
                widths = font["/Widths"].get_object()
                if 0 <= index < len(widths):
                    widths[index] = type(widths[index])(float(widths[index]) * factor)
            yield str(page.extract_text()).strip()
    except MemoryError:
        raise
    except Exception:  # A damaged font affects only this second extraction.
        return


def _has_content(page: Any) -> bool:
    """Return whether a page without text is not blank."""
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    if objects is not None and len(objects.get_object()):
        return True
    contents = page.get_contents()
    return contents is not None and len(contents.get_data()) > _MAX_BLANK_BYTES


def _decrypt(reader: Any) -> None:
    """Decrypt a file with an empty user password, because many files are encrypted only to forbid printing.

    Raises ParseError if that fails.
    """
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        opened = bool(reader.decrypt(""))
    except DependencyError:
        raise
    except Exception as error:
        raise ParseError(f"its encryption is not supported ({one_line(str(error), 100)})") from None
    if not opened:
        raise ParseError("it is encrypted and needs a password: save it without one, for example with qpdf --decrypt")


def _information(reader: Any, name: str) -> str:
    """Return an entry of the document information, "" if it is missing or damaged."""
    try:
        information = reader.metadata
        value = information.get(name) if isinstance(information, Mapping) else None
        return one_line(str(value)) if isinstance(value, str) else ""
    except Exception:  # Document information is optional.
        return ""


def _title(title: str) -> str:
    """Return the title without prefixes and extensions that word processors add, "" if no title remains."""
    kept = _TOOL_NAME.sub("", title).strip()
    return "" if (kept != title and "_" in kept) or _NO_TITLE.match(kept) else kept


def _bookmarks(reader: Any) -> list[tuple[int, int, str]]:
    """Return (page from 0, level from 1, title) of the bookmarks, in document order; empty if they are damaged."""
    found: list[tuple[int, int, str]] = []
    try:
        stack = [(entry, 1) for entry in reversed(reader.outline)]
        while stack and len(found) < _MAX_BOOKMARKS:
            entry, level = stack.pop()
            if isinstance(entry, list):
                stack.extend((inner, min(level + 1, 9)) for inner in reversed(entry))
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0:
                found.append((int(page), level, storable_text(str(entry.title))))
    except MemoryError:
        raise
    except Exception:  # Bookmarks are optional.
        return []
    return found


def bookmarked_headings(
    text: str, pages: tuple[int, ...], bookmarks: list[tuple[int, int, str]]
) -> tuple[Heading, ...]:
    """Return headings for the bookmarks whose words occur on their page, ignoring differences in white space."""
    found: list[Heading] = []
    position = 0
    for page, level, title in sorted(bookmarks, key=lambda bookmark: bookmark[0]):
        words = title[:300].split()
        if page >= len(pages) or not words:
            continue
        end = pages[page + 1] if page + 1 < len(pages) else len(text)
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        if match := pattern.search(text, max(pages[page], position), end):
            found.append(Heading(match.start(), match.end(), level))
            position = match.end()
    return tuple(found)
