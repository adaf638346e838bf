"""A .docx file to one Document: the text of its body, with headings by their styles.

Its XML is read as a stream of events, without a tree. A document type declaration, which is where entities that expand
without end are declared, is forbidden in this format (ECMA-376 part 2, 8.1.1) and refused.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat

from data.documents import Document
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.text_builder import TextBuilder

_PIECE = 1 << 16
_BODY = "word/document.xml"
# Deleted text, what fields are computed from, and the second form of what is there in two forms.
_UNSEEN = frozenset(("del", "moveFrom", "instrText", "delText", "Fallback", "pict", "object"))
_HEADING_STYLE = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_ENGLISH_ID = re.compile(r"(?:heading([1-9])|title)$", re.IGNORECASE)
_GAPS = {"tab": "\t", "br": "\n", "cr": "\n"}


def parse_docx(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Paragraphs by blank lines, table rows by lines, cells by tabs; no headers, footers, notes or comments. title: the
    properties' title, else the first paragraph of style Title. metadata: author. Raises ParseError."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "EncryptionInfo" in names or "EncryptedPackage" in names:
                raise ParseError("it is encrypted and needs a password: save it without one")
            if _BODY not in names:
                raise ParseError(f"it is a zip without {_BODY}, not a .docx file")
            budget = _Budget(limits.file_bytes)
            styles, properties = _Styles(), _Properties()
            if "word/styles.xml" in names:
                _read_xml(archive, "word/styles.xml", styles, budget)
            if "docProps/core.xml" in names:
                _read_xml(archive, "docProps/core.xml", properties, budget)
            body = _Body(styles.levels())
            _read_xml(archive, _BODY, body, budget)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ParseError(f"not a .docx file, or a damaged one ({one_line(str(error), 100)}){_OLD}") from None
    except RuntimeError as error:  # zipfile's word for an encrypted member
        raise ParseError(f"a part of it cannot be read ({one_line(str(error), 100)})") from None
    text = body.text.text()
    if not text:
        raise ParseError("it has no text")
    title = one_line(properties.title) or one_line(body.title)
    metadata = origin.metadata_with(("author", one_line(properties.creator)))
    yield Document(origin.document_id, title, text, metadata, body.text.outline())


_OLD = "; a .doc file or one with a password must be saved as a plain .docx"


@dataclass(slots=True)
class _Budget:
    """Bytes of XML that may still be unpacked."""

    left: int

    def spend(self, number: int) -> None:
        self.left -= number
        if self.left < 0:
            raise ParseError("its XML unpacks to more than a file of this kind may have: a bomb, or split it")


class _Events:
    """What a part does with its XML. Names come without their namespace (there is a strict and a loose set)."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """Characters between tags."""


def _read_xml(archive: zipfile.ZipFile, name: str, events: _Events, budget: _Budget) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ParseError(
            f"{name} has a document type declaration, which no .docx may have: it could expand without end"
        )

    def start(qualified: str, attributes: dict[str, str]) -> None:
        events.start(_local(qualified), {_local(key): value for key, value in attributes.items()})

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda qualified: events.end(_local(qualified))
    parser.CharacterDataHandler = events.characters
    try:
        with archive.open(name) as part:
            while piece := part.read(_PIECE):
                budget.spend(len(piece))
                parser.Parse(piece, False)
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ParseError(f"{name} is not well-formed XML: {error}") from None


def _local(qualified: str) -> str:
    return qualified.rpartition(" ")[2]


@dataclass(slots=True)
class _Styles(_Events):
    """style id -> its name, its own outline level and the style it is based on."""

    named: dict[str, str] = field(default_factory=dict)
    outlined: dict[str, int] = field(default_factory=dict)
    based: dict[str, str] = field(default_factory=dict)
    current: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        match name:
            case "style":
                self.current = attributes.get("styleId", "")
            case "name" if self.current:
                self.named.setdefault(self.current, value)
            case "basedOn" if self.current:
                self.based[self.current] = value
            case "outlineLvl" if self.current and value.isdecimal():
                self.outlined[self.current] = int(value) + 1

    def end(self, name: str) -> None:
        if name == "style":
            self.current = ""

    def levels(self) -> dict[str, int]:
        """The level (1 to 9) of each style that makes a heading, 0 of the one that makes the title."""
        found: dict[str, int] = {}
        for style in self.named:
            at, seen = style, 0
            while at and seen < 20:  # styles may be based on each other in a circle
                level = self._own(at)
                if level is not None:
                    if level <= 9:
                        found[style] = level
                    break
                at, seen = self.based.get(at, ""), seen + 1
        return found

    def _own(self, style: str) -> int | None:
        name = self.named.get(style, "")
        if name.lower() == "title":
            return 0
        if match := _HEADING_STYLE.match(name):
            return int(match.group(1))
        return self.outlined.get(style)


@dataclass(slots=True)
class _Properties(_Events):
    title: str = ""
    creator: str = ""
    inside: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.inside = name

    def end(self, name: str) -> None:
        self.inside = ""

    def characters(self, text: str) -> None:
        if self.inside == "title":
            self.title += text[:1000]
        elif self.inside == "creator":
            self.creator += text[:1000]


class _Body(_Events):
    """Builds the text. levels: as ``_Styles.levels``; files without styles use the names of the English ones."""

    def __init__(self, levels: dict[str, int]) -> None:
        self.levels = levels
        self.text = TextBuilder()
        self.title = ""
        self._in_text = False
        self._in_title = False
        self._rows = 0
        self._in_cell = False  # whether a paragraph of the present cell was begun
        self._unseen = ""
        self._unseen_depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._unseen:
            self._unseen_depth += name == self._unseen
            return
        match name:
            case "t":
                self._in_text = True
            case "p":
                self._in_title = False
                if not self._rows:
                    self.text.gap("\n\n")
                elif self._in_cell:
                    self.text.gap("\n")
                self._in_cell = True
            case "tr":
                self._rows += 1
                self._in_cell = False
                self.text.gap("\n")
            case "tbl":
                self.text.gap("\n\n")
            case "pStyle":
                self._style(attributes.get("val", ""))
            case "outlineLvl" if attributes.get("val", "").isdecimal() and int(attributes["val"]) < 9:
                self.text.begin_heading(int(attributes["val"]) + 1)
            case "tab" | "br" | "cr":
                self.text.gap(_GAPS[name])
            case "noBreakHyphen":
                self.text.add_exactly("-")
            case _ if name in _UNSEEN:
                self._unseen, self._unseen_depth = name, 1

    def end(self, name: str) -> None:
        if self._unseen:
            self._unseen_depth -= name == self._unseen
            if not self._unseen_depth:
                self._unseen = ""
            return
        match name:
            case "t":
                self._in_text = False
            case "p":
                self.text.end_heading()
                if not self._rows:
                    self.text.gap("\n\n")
            case "tc":
                self._in_cell = False
                self.text.gap("\t")
            case "tr":
                self._rows = max(0, self._rows - 1)
                self.text.gap("\n")
            case "tbl":
                self.text.gap("\n\n")

    def characters(self, text: str) -> None:
        if not self._in_text or self._unseen:
            return
        if self._in_title and len(self.title) < 1000:
            self.title += text
        self.text.add_exactly(text)

    def _style(self, style: str) -> None:
        level = self.levels.get(style)
        if level is None and (match := _ENGLISH_ID.match(style)):
            level = int(match.group(1) or 0)
        if level is not None:
            self._in_title = level == 0 and not self.title
            self.text.begin_heading(max(level, 1))
