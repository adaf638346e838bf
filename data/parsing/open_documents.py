"""Parse .odt files. A file becomes one document with the paragraphs, headings and tables of its body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from data.documents import Document
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_archives import checked_office_file
from data.parsing.origin import Origin
from data.parsing.superscripts import Level, raised_text
from data.parsing.text_builder import TextBuilder

# Elements that are omitted: deleted text, comments, notes (as in .docx), field names, and elements without text.
_OMITTED = frozenset(
    re.findall(
        r"\S+",
        "text:tracked-changes office:annotation text:note office:forms text:sequence-decls draw:image text:bookmark "
        "office:binary-data svg:title svg:desc",
    )
)
_MAX_SPACES = 100


def parse_odt(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Yield one document. Paragraphs are separated by blank lines, table rows by line breaks, and cells by tabs.

    Headers, footers, notes and comments are omitted. The title is the title property, and the metadata are ``author``.
    Raises ParseError if the file is invalid or has no text.
    """
    content = checked_office_file(file, limits, "content.xml", ".odt")
    import odfdo

    document = odfdo.Document(content)
    writer = _BodyWriter(_raising_styles(document))
    writer.children(document.body)
    text = writer.text.text()
    if not text:
        raise ParseError("it has no text")
    title, author = one_line(str(document.meta.title or "")), one_line(str(document.meta.creator or ""))
    yield Document(origin.document_id, title, text, origin.metadata_with(("author", author)), writer.text.outline())


def _raising_styles(document: Any) -> dict[str, str]:
    """Return "sup" or "sub" for each style that raises or lowers text, by its name."""
    found: dict[str, str] = {}
    for part in ("content.xml", "styles.xml"):
        for style in document.get_part(part).get_elements("//style:style"):
            for properties in style.get_elements("style:text-properties"):
                position = str(properties.get_attribute("style:text-position") or "").split()
                if position and position[0] not in ("0%", "0"):
                    lowered = position[0] == "sub" or position[0].startswith("-")
                    found[str(style.get_attribute("style:name"))] = "sub" if lowered else "sup"
    return found


class _BodyWriter:
    """A writer of the text of all elements, in order."""

    def __init__(self, raising: dict[str, str]) -> None:
        self.text = TextBuilder()
        self._raising = raising
        self._tables = 0

    def children(self, element: Any) -> None:
        """Write the text of an element, its children and the text between them."""
        self._add(element.text)
        for child in element.children:
            self._element(child)
            self._add(child.tail)

    def _element(self, element: Any) -> None:
        tag = str(element.tag)
        if tag in _OMITTED:
            return
        match tag:
            case "text:s":
                count = str(element.get_attribute("text:c") or "1")
                self.text.add_exactly(" " * min(int(count) if count.isdigit() else 1, _MAX_SPACES))
            case "text:tab":
                self.text.gap("\t")
            case "text:line-break":
                self.text.gap("\n")
            case "text:span" if level := self._raising.get(str(element.get_attribute("text:style-name"))):
                kind: Level = "sup" if level == "sup" else "sub"
                inner, after = str(element.text_recursive), str(element.tail or "")
                self.text.add(raised_text(self.text.tail, inner, kind, after))
            case "text:p" | "text:h":
                self._paragraph(element, tag)
            case "table:table" | "table:table-row" | "table:table-cell" | "table:covered-table-cell":
                self._table(element, tag)
            case _:
                self.children(element)

    def _paragraph(self, element: Any, tag: str) -> None:
        gap = "\n" if self._tables else "\n\n"
        self.text.gap(gap)
        if tag == "text:h":
            level = str(element.get_attribute("text:outline-level") or "1")
            self.text.begin_heading(max(1, min(int(level) if level.isdigit() else 1, 9)))
        self.children(element)
        self.text.end_heading()
        self.text.gap(gap)

    def _table(self, element: Any, tag: str) -> None:
        match tag:
            case "table:table":
                self._tables += 1
                self.text.begin_table()
                self.children(element)
                self.text.end_table()
                self._tables -= 1
            case "table:table-row":
                self.text.begin_row()
                self.children(element)
                self.text.end_row()
            case _:
                repeated = str(element.get_attribute("table:number-columns-repeated") or "1")
                self.text.begin_cell()
                self.text.widen(int(repeated) - 1 if repeated.isdigit() and len(repeated) < 5 else 0)
                self.children(element)

    def _add(self, text: str | None) -> None:
        if text:
            self.text.add(str(text))
