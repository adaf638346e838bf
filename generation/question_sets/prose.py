"""Extract a document's prose with offsets, without headings, tables and markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generation.synthetic_questions.passages import Passage
from retrieval.chunking.sentences import sentence_spans

_MARKUP: Final = re.compile(r"[|{}<>=\[\]\\]|https?:|formula_")
_MIN_LENGTH, _MAX_LENGTH = 40, 6000
_WRAPPED: Final = re.compile(r"(?<=[\w,;:)])\n(?=[a-z(])")


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph of prose. start: its offset in the document, in characters."""

    start: int
    passage: Passage


def prose(text: str) -> Iterator[Prose]:
    """Yield paragraphs that end in a full stop, in order. Hard-wrapped lines are joined without changing offsets."""
    joined = _WRAPPED.sub(" ", text)
    position = 0
    for line in joined.split("\n"):
        stripped = line.strip()
        if (
            _MIN_LENGTH <= len(stripped) <= _MAX_LENGTH
            and stripped[-1] in ".!?"
            and not stripped.startswith(("#", "-", "*", ">"))
            and not _MARKUP.search(stripped)
        ):
            spans = tuple((span.start, span.end) for span in sentence_spans(stripped))
            yield Prose(position + line.index(stripped), Passage(stripped, spans))
        position += len(line) + 1
