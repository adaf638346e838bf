"""Parse .md files. A file becomes one document with the unchanged source and the positions of its headings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import IO

from markdown_it import MarkdownIt

from data.documents import Document
from data.outline import Heading, Outline
from data.parsing.decoding import decode
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.plain_text import read_limited

_FRONT_MATTER_LINES = 200


def parse_markdown(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Yield the source as one document, so that citation offsets refer to the file.

    A first line ``# Title`` becomes the title. It is removed from the text, together with the blank lines after it.
    Raises ParseError if the file has no text or is too large.
    """
    decoded = decode(read_limited(file, limits.text_bytes))
    title, content = "", decoded.text
    text = content
    first, _, rest = content.partition("\n")
    if first.startswith("# ") and first[2:].strip():
        title, text = first[2:].strip(), rest
    text = text.lstrip("\n")
    first_line = 1 + content.count("\n", 0, len(content) - len(text))
    text = text.rstrip()
    if not text:
        raise ParseError("it has a title but no text" if title else "it contains only white space")
    outline = Outline(markdown_headings(text, front_matter=not title), first_line=first_line)
    yield Document(origin.document_id, title, text, origin.metadata_with(*decoded.metadata), outline)


def markdown_headings(text: str, *, front_matter: bool = True) -> tuple[Heading, ...]:
    """Return the positions of CommonMark headings, without their markers. ``#`` lines in code are not headings.

    front_matter: whether a leading ``---`` starts YAML, which CommonMark would parse as a heading.
    """
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    skipped = _front_matter(lines) if front_matter else 0
    found: list[Heading] = []
    tokens = parser.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.map is None or opening.map[0] < skipped:
            continue
        words = inline.content.split("\n")[0]
        start = text.find(words, starts[opening.map[0]], starts[opening.map[1]]) if words else -1
        if start >= 0:
            found.append(Heading(start, start + len(words), int(opening.tag[1:])))
    return tuple(found)


def _front_matter(lines: list[str]) -> int:
    """Return the number of lines of the YAML before the text."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=2):
        if line.rstrip() in ("---", "..."):
            return number
    return 0
