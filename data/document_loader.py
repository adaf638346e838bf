"""Documents out of folders and files, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from data.document_json import document_from_fields
from data.documents import Document
from data.errors import DataError
from data.fields import FieldError
from data.folders import FoundFile, find_files
from data.jsonl import is_jsonl, read_jsonl
from data.refused import Refused, shown
from data.text_files import read_text_file


def load_documents(paths: Sequence[Path]) -> Iterator[Document | Refused]:
    """Yield every document the paths hold and, in its place, every item that was refused.

    A path is a folder of .txt and .md files (see data/folders.py for the order, text_files.py for titles and
    encodings), one such file, a file of documents (.jsonl, .jsonl.gz, .jsonl.bz2, one object a line with "id" or "_id",
    "title", "text", "metadata"), or a BEIR folder (its corpus.jsonl). Ids of files are their paths below the given
    folder, with forward slashes, or their name when given by themselves. Of two documents with one id the second is
    refused, naming both places. Only one document is in memory at a time, besides all ids.

    Raises DataError at once, before anything is read, when there is no path or one does not exist.
    """
    if not paths:
        raise DataError("no path to documents was given: name a folder or a file")
    wrong = [reason for path in paths if (reason := _unusable(path))]
    if wrong:
        raise DataError("; ".join(wrong) + ". Check the spelling; nothing was read")
    return _load(tuple(paths))


def _unusable(path: Path) -> str:
    """Why a path cannot be read at all; empty when it can."""
    try:
        path.stat()
    except FileNotFoundError:
        return f"{shown(path)} does not exist"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return f"{shown(path)} cannot be read ({getattr(error, 'strerror', None) or error})"
    return ""


def _load(paths: tuple[Path, ...]) -> Iterator[Document | Refused]:
    places = _Places()
    for found in find_files(paths):
        if isinstance(found, Refused):
            yield found
        elif is_jsonl(found.path):
            yield from _load_jsonl(found, places)
        else:
            item = read_text_file(found.path, found.inside)
            yield item if isinstance(item, Refused) else places.first(item, found.root, 0)


def _load_jsonl(found: FoundFile, places: _Places) -> Iterator[Document | Refused]:
    for line in read_jsonl(found.path):
        if isinstance(line, Refused):
            yield line
            continue
        try:
            document = document_from_fields(line.fields)
        except FieldError as error:
            yield Refused(line.where, str(error))
            continue
        yield places.first(document, found.path, line.number)


class _Places:
    """Where each id was seen first. One integer an id, because a collection may have millions."""

    def __init__(self) -> None:
        self._sources: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._seen: dict[str, int] = {}

    def first(self, document: Document, source: Path, line: int) -> Document | Refused:
        """The document, unless its id was seen before. source: folder (line 0) or JSON Lines file (line from 1)."""
        if source not in self._numbers:
            self._numbers[source] = len(self._sources)
            self._sources.append(source)
        code = self._numbers[source] << _LINE_BITS | line
        earlier = self._seen.setdefault(document.id, code)
        # A line, or a file of a folder, is read once, so only the first sight of an id can bring its own code.
        if earlier == code:
            return document
        here, there = self._place(code, document.id), self._place(earlier, document.id)
        return Refused(here, f"the id {document.id!r} was used already by {there}: ids must differ. The first is kept")

    def _place(self, code: int, document_id: str) -> str:
        source, line = self._sources[code >> _LINE_BITS], code & ((1 << _LINE_BITS) - 1)
        return f"{shown(source)}:{line}" if line else shown(source / document_id)


_LINE_BITS = 40
