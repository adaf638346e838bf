"""Parse .rtf files. A file becomes one document, whose text is extracted by the library striprtf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from data.documents import Document
from data.parsing.decoding import one_line, storable_text
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.plain_text import read_limited

# Superscripts and subscripts. The library drops these marks, so that 10{\super 3} would become 103.
_RAISED = re.compile(
    r"(?<=[\w)])(\s{0,9}\{?[^{}\\]{0,20}(?:\\(?!super|sub|up\d|dn\d)[a-z]{1,20}-?\d{0,6} ?){0,8})"
    r"(\\(super|sub|up[1-9]\d?|dn[1-9]\d?)(?![a-z\d]))( ?)(?=[-+\w(])"
)
_TITLE = re.compile(r"\{\\title ([^{}\\]{1,500})\}")
_BLANK_LINES = re.compile(r"\n[ \t]*\n[ \t\n]*")


def parse_rtf(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Yield one document. Each paragraph is a line, cells are separated by tabs, and the title is the title property.

    Superscripts are preceded by ``^`` and subscripts by ``_``. Raises ParseError if the file is not RTF or has no text.
    """
    from striprtf.striprtf import rtf_to_text

    source = read_limited(file, limits.text_bytes).decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise ParseError("it is not an .rtf file (no {\\rtf at its beginning)")
    title = _TITLE.search(source[:10_000])
    marked = _RAISED.sub(lambda m: f"{m[1]}{m[2]} {'_' if m[3].startswith(('sub', 'dn')) else '^'}", source)
    text = storable_text(rtf_to_text(marked, errors="replace"))
    lines = (re.sub(r"\|", "\t", line[:-1]) if line.endswith("|") else line for line in text.split("\n"))
    content = _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")
    if not content.strip():
        raise ParseError("it has no text")
    yield Document(origin.document_id, one_line(title.group(1)) if title else "", content, origin.metadata_with())
