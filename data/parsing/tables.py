"""Parse .csv and .tsv files. Each row becomes a document. Rows are streamed, so memory does not grow with the table."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from data.documents import Document
from data.parsing.decoding import DETECTABLE, encoding_of
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.refused import Refused, note, part
from data.table_layout import TableLayout, table_layout

_BLOCK_BYTES = 1 << 20
_LAYOUT_LINES = 100
_LAYOUT_CHARACTERS = 1 << 20
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")
_YEAR = re.compile(r"[12]\d{3}")


def parse_csv(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Parse comma-separated values with quoting. ``table_layout`` infers the delimiter from the first lines."""
    return _parse(file, origin, limits, quoted=True)


def parse_tsv(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Parse tab-separated values, in which quotes are ordinary characters (IANA text/tab-separated-values)."""
    return _parse(file, origin, limits, quoted=False)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table.

    names: name of each column.
    id, title, text: index of the column of this name, None if there is none.
    """

    names: tuple[str, ...]
    id: int | None
    title: int | None
    text: int | None


def _parse(file: IO[bytes], origin: Origin, limits: ParsingLimits, *, quoted: bool) -> Iterator[Item]:
    """Yield one document per row. Raises ParseError if the file is not a table.

    The columns "text", "title" and "id" (or "_id") give the text, title and ID of a row, and the other columns are
    metadata. Without a column "text", the text has a line "column: value" for each cell. Rows without a column for the
    ID are named ``name#row``. The metadata ``row`` is numbered as in a spreadsheet. In a short row, the last cells
    count as empty. Cells beyond the header are kept as "column N" and reported in a note.
    """
    encoding = _encoding(file)
    extra_metadata = (("encoding", DETECTABLE[encoding]),) if encoding in DETECTABLE else ()
    csv.field_size_limit(limits.line_bytes)
    lines = _Lines(file, encoding, limits.line_bytes)
    try:
        yield from _rows(lines, origin, extra_metadata, quoted=quoted)
    finally:
        lines.detach()


def _rows(
    lines: _Lines, origin: Origin, extra_metadata: tuple[tuple[str, str], ...], *, quoted: bool
) -> Iterator[Item]:
    layout = lines.layout() if quoted else TableLayout("\t")
    reader = csv.reader(lines, delimiter=layout.delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    table = TableRows(origin, extra_metadata)
    row = int(layout.declared)
    if layout.declared:
        next(lines, None)
    while True:
        first_line = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield part(
                f"{origin.where}:{first_line}",
                f"the row that begins here cannot be read ({error}; unclosed quote?): the rest of the file is missing",
            )
            return
        for number in lines.take_refused():
            yield part(f"{origin.where}:{number}", f"the line is longer than {lines.limit:,} characters: split it")
        if cells is None:
            break
        row += 1
        if any(cell.strip() for cell in cells):
            yield from table.add(cells, row, first_line)
    if table.columns is None:
        raise ParseError("it has no rows")


class TableRows:
    """A converter of the rows of a table to documents. The first row may be the header."""

    def __init__(
        self, origin: Origin, extra_metadata: tuple[tuple[str, str], ...] = (), row_separator: str = "#"
    ) -> None:
        """Create the converter.

        origin: origin of the table.
        extra_metadata: metadata of every row.
        row_separator: separator between the table's name and the row number in IDs.
        """
        self.columns: Columns | None = None
        self._origin, self._extra_metadata, self._row_separator = origin, extra_metadata, row_separator

    def add(self, cells: Sequence[str], row: int, line: int) -> Iterator[Item]:
        """Yield the document of a row or its refusal, and notes about it. Nothing is yielded for the header.

        row: number of the row. line: number of its first line. Raises ParseError if the header has a repeated name.
        """
        if self.columns is None:
            self.columns = _columns(cells)
            if _is_header(cells):
                return
        width, where = len(self.columns.names), f"{self._origin.where}:{line}"
        if any(cell.strip() for cell in cells[width:]):
            reason = (
                f"the row has {len(cells)} cells, the header {width}: the extra cells are kept as column {width + 1} "
                "and so on; check for an unquoted separator"
            )
            yield note(where, reason)
        name = f"{self._origin.document_id}{self._row_separator}{row}"
        item = _row(cells, self.columns, self._origin, name, row, where, self._extra_metadata)
        yield item if isinstance(item, Refused) else NumberedDocument(item, line)


def _encoding(file: IO[bytes]) -> str:
    """Detect the encoding from the entire file, which is read in blocks and then rewound.

    Raises ParseError if the file is empty or not text.
    """
    block = file.read(_BLOCK_BYTES)
    if not block:
        raise ParseError("the file is empty")
    found = "utf-16" if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    while block and found != "utf-16":
        if (nul := block.find(b"\0")) >= 0:
            raise ParseError(f"it looks binary, not text (byte {read + nul} is NUL)")
        if found == "utf-8":
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                found = encoding_of(block[: block.rfind(b"\n") + 1] or block)
                decoder.reset()
        read += len(block)
        block = file.read(_BLOCK_BYTES)
    file.seek(0)
    return "utf-8-sig" if found == "utf-8" else found


class _Lines(Iterator[str]):
    """An iterator over the decoded lines of a file. Lines longer than ``limit`` characters are skipped and recorded."""

    def __init__(self, file: IO[bytes], encoding: str, limit: int) -> None:
        self.limit = limit
        self.number = 0
        self._text = io.TextIOWrapper(file, encoding=encoding, newline="")
        self._waiting: list[str] = []
        self._refused: list[int] = []

    def detach(self) -> None:
        """Detach from the file, which is not closed."""
        self._text.detach()

    def layout(self) -> TableLayout:
        """Infer the layout from the first hundred lines, without consuming them."""
        seen: list[str] = []
        size = 0
        while len(seen) < _LAYOUT_LINES and size < _LAYOUT_CHARACTERS and (line := next(self, None)) is not None:
            seen.append(line)
            size += len(line)
        self._waiting = seen[::-1]
        self.number -= len(seen)
        blank = next((n for n, line in enumerate(seen) if line.strip()), len(seen))
        return table_layout(seen[blank:] if blank else seen, complete=len(seen) < _LAYOUT_LINES)

    def take_refused(self) -> list[int]:
        """Return the numbers of the lines that were too long since the last call."""
        taken, self._refused = self._refused, []
        return taken

    def __next__(self) -> str:
        if self._waiting:
            self.number += 1
            return self._waiting.pop()
        while line := self._read(self.limit + 1):
            self.number += 1
            if len(line) <= self.limit:
                if "\0" in line:
                    raise ParseError(f"it looks binary, not text (NUL in line {self.number})")
                return line
            self._refused.append(self.number)
            while line and not line.endswith(("\n", "\r")):
                line = self._read(_BLOCK_BYTES)
        raise StopIteration

    def _read(self, limit: int) -> str:
        try:
            return self._text.readline(limit)
        except UnicodeError as error:
            raise ParseError(f"invalid {self._text.encoding} after line {self.number} ({error}): convert it") from None


def _columns(cells: Sequence[str]) -> Columns:
    """Return the columns. Their names are the cells of the first row, or "column 1", ... if it is not a header.

    Raises ParseError if a name is repeated.
    """
    header = _is_header(cells)
    names = [cell.strip() or f"column {n}" if header else f"column {n}" for n, cell in enumerate(cells, start=1)]
    lower = [name.lower() for name in names]
    repeated = sorted({name for name in lower if lower.count(name) > 1})
    if repeated:
        raise ParseError(f"the first row has the column {repeated[0]!r} twice: column names must be unique")
    index_of = {name: index for index, name in enumerate(lower)}
    return Columns(tuple(names), index_of.get("id", index_of.get("_id")), index_of.get("title"), index_of.get("text"))


def _is_header(cells: Sequence[str]) -> bool:
    """Return whether the first row is a header.

    A row with a number that is not a year counts as data, so that no data is lost.
    """
    stripped = [cell.strip() for cell in cells]
    return all(not _NUMBER.fullmatch(cell) or _YEAR.fullmatch(cell) is not None for cell in stripped) and any(
        cell and not _YEAR.fullmatch(cell) for cell in stripped
    )


def _row(
    cells: Sequence[str],
    columns: Columns,
    origin: Origin,
    name: str,
    row: int,
    where: str,
    extra_metadata: tuple[tuple[str, str], ...],
) -> Document | Refused:
    cells = [*cells, *[""] * (len(columns.names) - len(cells))]
    names = [*columns.names, *(f"column {n}" for n in range(len(columns.names) + 1, len(cells) + 1))]
    document_id = cells[columns.id].strip() if columns.id is not None else name
    if not document_id:
        return part(where, f'the cell "{columns.names[columns.id or 0]}" is empty: every row needs an id')
    title = " ".join(cells[columns.title].split()) if columns.title is not None else ""
    special = {columns.id, columns.title, columns.text}
    other = [
        (name, cell.strip())
        for index, (name, cell) in enumerate(zip(names, cells, strict=True))
        if index not in special and cell.strip()
    ]
    if columns.text is not None:
        text = cells[columns.text].replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        if not text.strip():
            return part(where, 'the cell "text" is empty')
        metadata = origin.metadata_with(*other, *extra_metadata, ("row", str(row)))
    else:
        text = "\n".join(f"{name}: {' '.join(cell.split())}" for name, cell in other)
        if not text:
            return part(where, "the row has no text besides its id and title")
        metadata = origin.metadata_with(*extra_metadata, ("row", str(row)))
    return Document(document_id, title, text, metadata)
