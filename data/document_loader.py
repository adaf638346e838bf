"""Load documents from folders, files and databases, one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from data.documents import Document, with_pair
from data.errors import DataError
from data.folders import FolderFile, find_files
from data.parsing.limits import ParsingLimits
from data.parsing.origin import NumberedDocument, Origin
from data.parsing.pool import FileParsing, FileToParse, ParsedItem, parse_files
from data.refused import Refused, note, part, printable, shown
from data.sources import Source, SqlSource


def load_documents(
    paths: Sequence[Path],
    limits: ParsingLimits | None = None,
    workers: int = 1,
    *,
    follow_links: bool = False,
    name_files: bool = False,
) -> Iterator[Document | Refused]:
    """Yield the documents and refused items of paths; see ``iter_documents``."""
    return iter_documents(paths, limits, workers, follow_links=follow_links, name_files=name_files)


def iter_documents(
    sources: Sequence[Source],
    limits: ParsingLimits | None = None,
    workers: int = 1,
    *,
    follow_links: bool = False,
    name_files: bool = False,
    parse: FileParsing = parse_files,
) -> Iterator[Document | Refused]:
    """Yield every document of the sources, and a Refused for every item that is not read.

    A source is a folder (see data/folders.py for the order), a file of a kind in data/parsing/file_kinds.py, a BEIR
    folder (its corpus.jsonl), or a query to a database (data/sql_documents.py). Queries are read after all paths.

    The ID of a file is its path below the given folder, with forward slashes, or its name if the file itself was given.
    Documents in files with several documents have their own IDs. If another file has used an ID, the file's name is
    prefixed (``products.csv#7``), or for a query the database and table (``notes.db:people#7``), with a note. If two
    documents in one file or query have the same ID, the second is refused.

    limits: limits of the parser processes. workers: number of parser processes. follow_links: whether symbolic links
    may leave a given folder. name_files: whether documents with their own ID get their file's name as metadata "file".
    parse: function that parses the files (data/parsing/distributed.py has another one). Only one document is in memory
    at a time, in addition to all IDs and the memory of the parser processes. Closing the iterator ends those processes.

    Raises DataError immediately if there is no source, a path does not exist or a database source is invalid, and later
    if a database fails or no parser process can be started.
    """
    if not sources:
        raise DataError("no path to documents was given: name a folder or a file")
    problems = [reason for source in sources if isinstance(source, Path) and (reason := _unusable(source))]
    if problems:
        raise DataError("; ".join(problems) + ". Check the spelling; nothing was read")
    for source in sources:
        if isinstance(source, SqlSource):
            from data.sql_documents import check_sql  # SQLAlchemy is slow to import

            check_sql(source)
    return _load(tuple(sources), limits or ParsingLimits(), workers, follow_links, name_files, parse)


def _unusable(path: Path) -> str:
    """Return the reason why a path cannot be read; "" if it can."""
    try:
        path.stat()
    except FileNotFoundError:
        return f"{shown(path)} does not exist"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return f"{shown(path)} cannot be read ({getattr(error, 'strerror', None) or error})"
    return ""


def _load(
    sources: tuple[Source, ...],
    limits: ParsingLimits,
    workers: int,
    follow_links: bool,
    name_files: bool,
    parse: FileParsing,
) -> Iterator[Document | Refused]:
    origins = _Origins(name_files)
    found = find_files([source for source in sources if isinstance(source, Path)], follow_links=follow_links)
    if any(isinstance(source, Path) for source in sources):
        with closing(parse(map(_file_to_parse, found), limits, workers)) as parsed:
            for one in parsed:
                if isinstance(one.item, Refused):
                    yield one.item
                else:
                    yield from origins.first_of_file(one)
    for source in sources:
        if isinstance(source, SqlSource):
            from data.sql_documents import read_sql

            label = origins.new_label(source.label)
            for item in read_sql(source):
                if isinstance(item, Refused):
                    yield item
                else:
                    yield from origins.first_of_query(item, source.shown, label)


def _file_to_parse(found: FolderFile | Refused) -> FileToParse | Refused:
    if isinstance(found, Refused):
        return found
    try:
        found.inside.encode()
    except UnicodeEncodeError:
        return Refused(shown(found.path), "its name is not UTF-8, but the id of a document must be: rename the file")
    return FileToParse(found.path, Origin(shown(found.path), printable(found.inside)))


class _Origins:
    """The first location of each ID. Only one integer is stored per ID, because a collection may have millions."""

    def __init__(self, name_files: bool) -> None:
        self._name_files = name_files
        self._sources: list[str] = []
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._labels: Counter[str] = Counter()

    def first_of_file(self, parsed: ParsedItem) -> Iterator[Document | Refused]:
        """Yield the document of a file, with a new ID and a note if a document of another file has the same ID.

        If its ID was used in the same file, a Refused is yielded instead.
        """
        item, file = parsed.item, parsed.file
        document = item.document if isinstance(item, NumberedDocument) else item
        if isinstance(document, Refused) or file is None:
            raise TypeError("a refusal has no id")
        line = item.line if isinstance(item, NumberedDocument) else 0
        source, name = file.origin.where, file.origin.document_id
        if document.id == name:
            # The source is the folder, so that the paths of its files need not be stored.
            source = source.removesuffix(document.id)
            new_id = f"{Path(source or '.').resolve().name}/{document.id}"
        else:
            new_id = f"{name}#{document.id}"
            if self._name_files and not document.id.startswith(name):
                document = replace(document, metadata=with_pair(document.metadata, "file", name))
        first_use = self._seen.get(document.id)
        if first_use is not None and self._sources[first_use >> _LINE_BITS] != source:
            if new_id not in self._seen:
                where = f"{source}:{line}" if line else file.origin.where
                there = self._where(first_use, document.id)
                yield note(where, f"the id {document.id!r} is used by {there}: here it is {new_id!r}")
            document = replace(document, id=new_id)
        yield self.first(document, source, line)

    def new_label(self, label: str) -> str:
        """Return a unique name for a query: ``notes.db:people``, then ``notes.db:people-2``."""
        self._labels[label] += 1
        return label if self._labels[label] == 1 else f"{label}-{self._labels[label]}"

    def first_of_query(self, document: Document, source: str, label: str) -> Iterator[Document | Refused]:
        """Yield the document of a database row, with a new ID and a note if another source has used its ID.

        If its ID was used in the same query, a Refused is yielded instead.
        """
        first_use = self._seen.get(document.id)
        if first_use is not None and self._sources[first_use >> _LINE_BITS] != source:
            new_id = f"{label}#{document.id}"
            if new_id not in self._seen:
                there = self._where(first_use, document.id)
                yield note(source, f"the id {document.id!r} is used by {there}: here it is {new_id!r}")
            document = replace(document, id=new_id)
        yield self.first(document, source, 0)

    def first(self, document: Document, source: str, line: int) -> Document | Refused:
        """Return the document, or a Refused if its ID was used before.

        source: a folder (ending with a slash), a file with several documents, or a query.
        """
        if source not in self._numbers:
            self._numbers[source] = len(self._sources)
            self._sources.append(source)
        code = self._numbers[source] << _LINE_BITS | line
        if document.id not in self._seen:
            self._seen[document.id] = code
            return document
        here, there = self._where(code, document.id), self._where(self._seen[document.id], document.id)
        return part(here, f"the id {document.id!r} was already used by {there}: ids must differ. The first is kept")

    def _where(self, code: int, document_id: str) -> str:
        source, line = self._sources[code >> _LINE_BITS], code & ((1 << _LINE_BITS) - 1)
        if line:
            return f"{source}:{line}"
        return f"{source}{document_id}" if source.endswith("/") else source


_LINE_BITS = 40
