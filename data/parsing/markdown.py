"""A .md file to one Document: its source to the letter, with where its headings are."""

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
from data.parsing.plain_text import read_whole

_FRONT_MATTER_LINES = 200


def parse_markdown(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """The source, so that a citation's offsets lead back to the file. A first line ``# Title`` becomes the title, and
    it and the blank lines after it leave the text. Raises ParseError."""
    decoded = decode(read_whole(file, limits.text_bytes))
    title, whole = "", decoded.text
    text = whole
    first, _, rest = whole.partition("\n")
    if first.startswith("# ") and first[2:].strip():
        title, text = first[2:].strip(), rest
    text = text.lstrip("\n")
    first_line = 1 + whole.count("\n", 0, len(whole) - len(text))
    text = text.rstrip()
    if not text:
        raise ParseError("it has a title but no text" if title else "it holds only white space")
    outline = Outline(markdown_headings(text, front_matter=not title), first_line=first_line)
    yield Document(origin.document_id, title, text, origin.metadata_with(*decoded.metadata), outline)


def markdown_headings(text: str, *, front_matter: bool = True) -> tuple[Heading, ...]:
    """Where CommonMark headings are (not ``#`` lines in code), without the marks around their words.

    front_matter: whether a text that begins with ``---`` begins with YAML, which CommonMark would read as a heading.
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
    """How many lines of YAML stand before the text."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=2):
        if line.rstrip() in ("---", "..."):
            return number
    return 0
