"""A .pdf file to one Document: the text of its pages, where they and the bookmarked headings begin."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from data.documents import Document
from data.outline import Heading, Outline
from data.parsing.decoding import made_sound, one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.plain_text import read_whole
from data.parsing.text_builder import TextBuilder
from data.refused import Refused, part

_BOOKMARKS = 10_000
_TOOL_NAME = re.compile(
    r"^(microsoft (word|powerpoint|excel) - )|\.(docx?|pptx?|xlsx?|odt|tex|dvi|indd|pdf|rtf|txt)$", re.I
)
_NO_TITLE = re.compile(r"^(untitled|unbenannt|sans titre|document\d*|slide 1)?$", re.IGNORECASE)


def parse_pdf(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document | Refused]:
    """The pages' text, each on a new line. Headings are the bookmarks whose words stand on the page they point to.
    metadata: author, pages (how many). A page that cannot be read is refused by its number, the others are kept.
    Raises ParseError for a damaged or encrypted file and for one without text (a scan)."""
    import io

    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it would log is said in refusals
    raw = read_whole(file, limits.file_bytes)
    if b"%PDF-" not in raw[:1024]:
        raise ParseError("it does not begin like a PDF (no %PDF- in its first 1,024 bytes)")
    try:
        reader = pypdf.PdfReader(io.BytesIO(raw), strict=False)
        _decrypt(reader)
        count = len(reader.pages)
    except DependencyError:
        raise ParseError(
            "it is encrypted (AES), which takes another package: pip install 'plumbline-rag[aes]', or save it without "
            "encryption, for example with qpdf --decrypt"
        ) from None
    except PyPdfError as error:
        raise ParseError(f"damaged: {one_line(str(error), 200)}") from None
    text = TextBuilder()
    bad: list[Refused] = []
    for number in range(count):
        text.begin_page()
        try:
            text.add_exactly(reader.pages[number].extract_text().strip())
        except MemoryError:
            raise
        except Exception as error:  # one of the many ways a broken content stream fails; the other pages are good
            said = one_line(f"{type(error).__name__}: {error}", 200)
            bad.append(part(f"{origin.where} page {number + 1}", f"the page cannot be read ({said})"))
    whole = text.text()
    if not whole:
        if bad:
            raise ParseError(f"none of its {count} pages can be read; the first: {bad[0].reason}")
        raise ParseError(
            f"its {count} {'page has' if count == 1 else 'pages have'} no text: a scan? Recognise its text first, for "
            "example with ocrmypdf"
        )
    pages = text.outline().pages
    yield from bad
    yield Document(
        origin.document_id,
        _title(_information(reader, "/Title")),
        whole,
        origin.metadata_with(("author", _information(reader, "/Author")), ("pages", str(count))),
        Outline(bookmarked_headings(whole, pages, _bookmarks(reader)), pages, first_line=0),
    )


def _decrypt(reader: Any) -> None:
    """Open what has no password of its own (many files are encrypted only to forbid printing)."""
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        opened = bool(reader.decrypt(""))
    except DependencyError:
        raise
    except Exception as error:
        raise ParseError(f"it is encrypted in a way that is not known ({one_line(str(error), 100)})") from None
    if not opened:
        raise ParseError("it is encrypted and needs a password: save it without one, for example with qpdf --decrypt")


def _information(reader: Any, name: str) -> str:
    """An entry of the document information, or nothing if that is damaged."""
    try:
        information = reader.metadata
        value = information.get(name) if isinstance(information, Mapping) else None
        return one_line(str(value)) if isinstance(value, str) else ""
    except Exception:  # information is for show: a file must not be lost for it
        return ""


def _title(title: str) -> str:
    """The title without what word processors put around a file's name; nothing if that is all it was."""
    kept = _TOOL_NAME.sub("", title).strip()
    return "" if (kept != title and "_" in kept) or _NO_TITLE.match(kept) else kept


def _bookmarks(reader: Any) -> list[tuple[int, int, str]]:
    """(page from 0, level from 1, words) of the bookmarks, outermost first; none if they are damaged."""
    found: list[tuple[int, int, str]] = []
    try:
        stack = [(entry, 1) for entry in reversed(reader.outline)]
        while stack and len(found) < _BOOKMARKS:
            entry, level = stack.pop()
            if isinstance(entry, list):
                stack.extend((inner, min(level + 1, 9)) for inner in reversed(entry))
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0:
                found.append((int(page), level, made_sound(str(entry.title))))
    except MemoryError:
        raise
    except Exception:  # bookmarks are for show
        return []
    return found


def bookmarked_headings(
    text: str, pages: tuple[int, ...], bookmarks: list[tuple[int, int, str]]
) -> tuple[Heading, ...]:
    """The bookmarks whose words are found on their page, whatever white space lies between, after those before them."""
    found: list[Heading] = []
    behind = 0
    for page, level, title in sorted(bookmarks, key=lambda bookmark: bookmark[0]):
        words = title[:300].split()
        if page >= len(pages) or not words:
            continue
        end = pages[page + 1] if page + 1 < len(pages) else len(text)
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        if match := pattern.search(text, max(pages[page], behind), end):
            found.append(Heading(match.start(), match.end(), level))
            behind = match.end()
    return tuple(found)
