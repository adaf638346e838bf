"""Parse .html files. A page becomes one document with its visible text, headings, title, language and address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from data.documents import Document
from data.parsing.declared_encoding import decode_declared
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.page_text import PageText
from data.parsing.plain_text import read_limited
from data.refused import Refused, note

_MAIN = re.compile(r"<main[\s>]|\srole\s*=\s*[\"']?main\b", re.IGNORECASE)
_MIN_MAIN_CHARACTERS = 80


def parse_web_page(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document | Refused]:
    """Yield the visible text in source order, with the positions of its headings.

    If the page marks its main part (``main``, ``role=main``), only this part is kept, without navigation. The title is
    ``<title>``, or else the first h1. The metadata are ``url`` (canonical link or og:url) and ``language``. Hidden text
    is omitted, and a note tells its length. Raises ParseError if the page cannot be decoded or shows no text.
    """
    decoded = decode_declared(read_limited(file, limits.file_bytes))
    page = read_page(decoded.text)
    text = page.body.text()
    outline = page.body.outline()
    title = one_line("".join(page.title))
    if not text:
        if page.hidden:
            raise ParseError(f"all of its text ({page.hidden:,} characters) is hidden")
        raise ParseError("it has a title but no text" if title else "it shows no text (is it rendered by a script?)")
    if not title:
        title = next((one_line(text[h.start : h.end]) for h in outline.headings if h.level == 1), "")
    metadata = origin.metadata_with(*decoded.metadata, ("url", page.url), ("language", page.language))
    if page.hidden:
        yield note(origin.where, f"{page.hidden:,} characters of hidden text were omitted")
    yield Document(origin.document_id, title, text, metadata, outline)


def read_page(source: str) -> PageText:
    """Parse the main part of a page, or the entire page if the main part is missing or has only a few words."""
    if _MAIN.search(source):
        page = PageText(main_only=True)
        page.feed(source)
        page.close()
        if len(page.body) >= _MIN_MAIN_CHARACTERS:
            return page
    page = PageText()
    page.feed(source)
    page.close()
    return page
