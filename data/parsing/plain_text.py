"""A .txt file to one Document, to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from data.documents import Document
from data.parsing.decoding import decode
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin


def parse_plain_text(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """The text without white space at its end. The title is empty: a file's name is not something its author wrote to
    be searched (scan_0001), and it is in the id anyway. Raises ParseError."""
    decoded = decode(read_whole(file, limits.text_bytes))
    text = decoded.text.rstrip()
    if not text:
        raise ParseError("it holds only white space")
    yield Document(origin.document_id, "", text, origin.metadata_with(*decoded.metadata))


def read_whole(file: IO[bytes], max_bytes: int) -> bytes:
    """All bytes of a file that must be held in memory. Raises ParseError when there are none or more than max_bytes."""
    raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise ParseError(f"more than the {max_bytes:,} bytes a file of this kind may have: split it")
    if not raw:
        raise ParseError("the file is empty")
    return raw
