"""The XML parts of office files, read as a stream of events, without a tree and without entities.

A document type declaration, which is where entities that expand without end are declared, is forbidden in these formats
(ECMA-376 part 2, 8.1.1; ODF 1.3 part 2, 3.1) and refused.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from xml.parsers import expat

from data.parsing.errors import ParseError

_PIECE = 1 << 16
LONGEST_TOKEN = 1 << 23
"""Bytes of a tag or the like without an end: expat reads all of it again with every piece."""


@dataclass(slots=True)
class Budget:
    """Bytes of XML that may still be unpacked."""

    left: int

    def spend(self, number: int) -> None:
        """Count bytes that were unpacked. Raises ParseError when there were too many."""
        self.left -= number
        if self.left < 0:
            raise ParseError("its XML unpacks to more than a file of this kind may have: a bomb, or split it")


class XmlEvents:
    """What a part does with its XML. Names come without their namespace (there is a strict and a loose set)."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """Characters between tags."""


def read_xml(archive: zipfile.ZipFile, name: str, events: XmlEvents, budget: Budget) -> None:
    """Tell ``events`` of every element of a part. Raises ParseError where it is not well-formed, or too large."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ParseError(
            f"{name} has a document type declaration, which no file of this kind may have: it could expand without end"
        )

    def start(qualified: str, attributes: dict[str, str]) -> None:
        events.start(_local(qualified), {_local(key): value for key, value in attributes.items()})

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda qualified: events.end(_local(qualified))
    parser.CharacterDataHandler = events.characters
    fed = 0
    try:
        with archive.open(name) as part:
            while piece := part.read(_PIECE):
                budget.spend(len(piece))
                fed += len(piece)
                parser.Parse(piece, False)
                if fed - max(parser.CurrentByteIndex, 0) > LONGEST_TOKEN:
                    raise ParseError(
                        f"{name} has a tag or text of more than {LONGEST_TOKEN >> 20} MiB: it is no document"
                    )
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ParseError(f"{name} is not well-formed XML: {error}") from None


def _local(qualified: str) -> str:
    return qualified.rpartition(" ")[2]
