"""Read the XML parts of office files as a stream of events, without a tree and without entities.

Document type declarations are refused, because they can declare entities that expand without bound. The formats forbid
them anyway (ECMA-376 part 2, 8.1.1; ODF 1.3 part 2, 3.1).
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from xml.parsers import expat

from data.parsing.errors import ParseError

_BLOCK_BYTES = 1 << 16
MAX_TOKEN_BYTES = 1 << 23
"""Largest unfinished tag in bytes. It is limited because expat scans an unfinished tag again for every block."""


@dataclass(slots=True)
class Budget:
    """Number of bytes of XML that may still be unpacked."""

    remaining: int

    def spend(self, number: int) -> None:
        """Subtract unpacked bytes. Raises ParseError if the budget is exceeded."""
        self.remaining -= number
        if self.remaining < 0:
            raise ParseError(
                "its XML unpacks to more than the limit for a file of this kind: possibly a zip bomb; otherwise "
                "split it"
            )


class XmlEvents:
    """Callbacks for the elements of a part.

    Names have no namespace, because the strict and the transitional variant of a format use different ones.
    """

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""

    def end(self, name: str) -> None:
        """Handle the end of an element."""

    def characters(self, text: str) -> None:
        """Handle characters between tags."""


def read_xml(archive: zipfile.ZipFile, name: str, events: XmlEvents, budget: Budget) -> None:
    """Parse a part and call the methods of ``events``. Raises ParseError if it is not well-formed or too large."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ParseError(
            f"{name} has a document type declaration, which this format forbids: its entities could expand without "
            "bound"
        )

    def start(qualified: str, attributes: dict[str, str]) -> None:
        events.start(_local_name(qualified), {_local_name(key): value for key, value in attributes.items()})

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda qualified: events.end(_local_name(qualified))
    parser.CharacterDataHandler = events.characters
    bytes_read = 0
    try:
        with archive.open(name) as part:
            while block := part.read(_BLOCK_BYTES):
                budget.spend(len(block))
                bytes_read += len(block)
                parser.Parse(block, False)
                if bytes_read - max(parser.CurrentByteIndex, 0) > MAX_TOKEN_BYTES:
                    raise ParseError(
                        f"{name} has a tag or text of more than {MAX_TOKEN_BYTES >> 20} MiB and is refused"
                    )
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ParseError(f"{name} is not well-formed XML: {error}") from None


def _local_name(qualified: str) -> str:
    return qualified.rpartition(" ")[2]
