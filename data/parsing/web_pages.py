"""An .html file to one Document: its visible text, headings, title, language and address.

Read as a stream of tags, without a tree: ten million nested tags cost time in proportion and no stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import IO

from data.documents import Document
from data.parsing.declared import decode_declared
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.plain_text import read_whole
from data.parsing.text_builder import TextBuilder

_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "math", "iframe", "object"))
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer "
        "form header hr html main menu nav ol p pre search section summary table tbody tfoot thead ul h1 h2 h3 h4 h5 "
        "h6",
    )
)
_LINES = frozenset(("br", "li", "tr", "caption", "option", "legend"))
_CELLS = frozenset(("td", "th"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def parse_web_page(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """All visible text in the order of the source (navigation too: what is chrome is a matter of opinion), with where
    its headings are. title: ``<title>``, else the first h1. metadata: url (canonical link or og:url), language.
    Raises ParseError when it is not text or shows nothing."""
    decoded = decode_declared(read_whole(file, limits.file_bytes))
    page = _Page()
    page.feed(decoded.text)
    page.close()
    text = page.body.text()
    outline = page.body.outline()
    title = one_line("".join(page.title))
    if not text:
        raise ParseError("it has a title but no text" if title else "it shows no text (is it made by a script?)")
    if not title:
        title = next((one_line(text[h.start : h.end]) for h in outline.headings if h.level == 1), "")
    metadata = origin.metadata_with(*decoded.metadata, ("url", page.url), ("language", page.language))
    yield Document(origin.document_id, title, text, metadata, outline)


class _Page(HTMLParser):
    """Collects ``body`` and ``title`` from the tags as they come. Unclosed and crossed tags are taken as they are."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.body = TextBuilder()
        self.title: list[str] = []
        self.url = ""
        self.language = ""
        self._in_title = False
        self._had_title = False
        self._exact = 0
        self._unseen = ""
        self._unseen_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            self._unseen_depth += tag == self._unseen
            return
        if tag in _UNSEEN:
            self._unseen, self._unseen_depth = tag, 1
            return
        match tag:
            case "title":
                self._in_title = not self._had_title
            case "html" | "link" | "meta":
                self._about(tag, {name: value or "" for name, value in reversed(attrs)})
            case "pre" | "textarea":
                self._exact += 1
        self._in_title = self._in_title and tag == "title"
        self._break(tag)
        if tag in _HEADINGS:
            self.body.begin_heading(_HEADINGS[tag])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # <script/> opens a script in HTML, but many pages are XHTML, where it is a whole element.
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)
            if tag in _HEADINGS or tag in ("title", "pre", "textarea"):
                self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen_depth -= tag == self._unseen
            if not self._unseen_depth:
                self._unseen = ""
            return
        if tag == "title" and self._in_title:
            self._in_title, self._had_title = False, True
        if tag in ("pre", "textarea"):
            self._exact = max(0, self._exact - 1)
        if tag in _HEADINGS:
            self.body.end_heading()
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._in_title:
            self.title.append(data)
        elif self._exact:
            self.body.add_exactly(data)
        else:
            self.body.add(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        # The base class asserts that it knows the section's keyword; to HTML it is a comment up to the next ">".
        end = self.rawdata.find(">", i + 3)
        return end + 1 if end >= 0 else -1

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.body.gap("\n\n")
        elif tag in _LINES:
            self.body.gap("\n")
        elif tag in _CELLS:
            self.body.gap("\t")

    def _about(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "html":
            self.language = self.language or one_line(attributes.get("lang", ""), 40)
        elif tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.url = one_line(attributes.get("href", "")) or self.url
        elif tag == "meta" and attributes.get("property", "").lower() == "og:url":
            self.url = self.url or one_line(attributes.get("content", ""))
