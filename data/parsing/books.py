"""Parse .epub files. A book becomes one document with the chapters in reading order."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import unquote

from data.documents import Document
from data.parsing.declared_encoding import decode_declared
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_archives import checked_office_file
from data.parsing.office_xml import Budget, XmlEvents, read_xml
from data.parsing.origin import Origin
from data.parsing.page_text import PageText
from data.parsing.text_builder import TextBuilder
from data.refused import Refused, note, part

_CONTAINER = "META-INF/container.xml"


def parse_epub(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document | Refused]:
    """Yield the book as one document. Chapters are separated by blank lines and keep their headings.

    The title and the metadata ``author`` and ``language`` come from the package. A chapter that cannot be read is
    refused by name. Raises ParseError if the book cannot be read or is protected by DRM.
    """
    content = checked_office_file(file, limits, _CONTAINER, ".epub")
    budget = Budget(limits.file_bytes)
    text = TextBuilder()
    hidden_characters = 0
    with zipfile.ZipFile(content) as archive:
        names = set(archive.namelist())
        container, package = _Container(), _Package()
        read_xml(archive, _CONTAINER, container, budget)
        if container.package not in names:
            raise ParseError(f"it has no package document {container.package!r}")
        read_xml(archive, container.package, package, budget)
        if "META-INF/rights.xml" in names:
            raise ParseError("it is protected by DRM: only books without DRM can be read")
        folder = posixpath.dirname(container.package)
        for name in package.chapters():
            member = posixpath.normpath(posixpath.join(folder, unquote(name)))
            if member not in names:
                yield part(f"{origin.where}/{member}", "the chapter is missing from the file")
                continue
            raw = archive.read(member)
            budget.spend(len(raw))
            try:
                source = decode_declared(raw).text
            except ParseError as error:
                yield part(f"{origin.where}/{member}", str(error))
                continue
            text.gap("\n\n")
            page = PageText(body=text)
            page.feed(source)
            page.close()
            hidden_characters += page.hidden
            text.end_heading()
    body = text.text()
    if not body:
        raise ParseError("its chapters have no text (only images?)")
    if hidden_characters:
        yield note(origin.where, f"{hidden_characters:,} characters of hidden text were omitted")
    properties = {name: one_line(value) for name, value in package.properties.items()}
    metadata = origin.metadata_with(
        ("author", properties.get("creator", "")), ("language", properties.get("language", ""))
    )
    yield Document(origin.document_id, properties.get("title", ""), body, metadata, text.outline())


@dataclass(slots=True)
class _Container(XmlEvents):
    package: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "rootfile" and not self.package:
            self.package = attributes.get("full-path", "")


@dataclass(slots=True)
class _Package(XmlEvents):
    """Content of the OPF package document.

    properties: the first title, creator and language.
    files: href of each page by its ID.
    spine: IDs of the pages in reading order.
    open_element: name of the open element that is recorded in ``properties``, "" if there is none.
    """

    properties: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    spine: list[str] = field(default_factory=list)
    open_element: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.open_element = name if name in ("title", "creator", "language") and name not in self.properties else ""
        if name == "item" and "html" in attributes.get("media-type", ""):
            self.files[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            self.spine.append(attributes.get("idref", ""))

    def end(self, name: str) -> None:
        self.open_element = ""

    def characters(self, text: str) -> None:
        if self.open_element:
            self.properties[self.open_element] = (self.properties.get(self.open_element, "") + text)[:1000]

    def chapters(self) -> list[str]:
        """Return the pages in reading order, or all of them if the spine lists none."""
        return [self.files[key] for key in self.spine if key in self.files] or list(self.files.values())
