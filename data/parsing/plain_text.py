"""Parse .txt files. A file becomes one document with the unchanged text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO

from data.documents import Document
from data.parsing.decoding import decode
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin

_SNIFFED_BYTES = 8192


def parse_plain_text(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Yield the text without trailing white space. Raises ParseError if it is blank or cannot be decoded.

    The title is empty, because a file name such as scan_0001 is not text by the author, and the ID contains it.
    """
    decoded = decode(read_limited(file, limits.text_bytes))
    text = decoded.text.rstrip()
    if not text:
        raise ParseError("it contains only white space")
    yield Document(origin.document_id, "", text, origin.metadata_with(*decoded.metadata))


def parse_unnamed(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Parse a file without an extension as a .txt file. Raises ParseError after a few bytes if it looks binary."""
    head = file.read(_SNIFFED_BYTES)
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ParseError("it is not text, and its name has no known extension")
    file.seek(0)
    yield from parse_plain_text(file, origin, limits)


def read_limited(file: IO[bytes], max_bytes: int) -> bytes:
    """Return the content of a file. Raises ParseError if it is empty or larger than ``max_bytes``."""
    raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise ParseError(f"more than the {max_bytes:,} bytes allowed for a file of this kind: split it")
    if not raw:
        raise ParseError("the file is empty")
    return raw
