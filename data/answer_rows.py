"""Read the rows of a file of answers, one answer per row.

Formats: JSON Lines, a JSON list, a table with a header (each plain or compressed), an Inspect log, Parquet or Arrow,
and a folder of Hugging Face ``datasets``.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal

from data.answer_shapes.unfolding import items_of
from data.arrow_tables import ARROW_SUFFIXES, arrow_rows, is_arrow
from data.dataset_folder import dataset_rows, is_dataset_folder
from data.errors import DataError
from data.fields import kind_of
from data.foreign_formats import foreign_format
from data.inspect_logs import archive_rows, is_inspect_archive, is_inspect_log, log_rows
from data.jsonl import read_jsonl
from data.ragtruth import find_ragtruth
from data.refused import Refused, shown
from data.rows import Row, plain_row, rows_of
from data.table_layout import NO_DELIMITER, TableLayout, table_layout

AnswerFormat = Literal["jsonl", "json", "csv", "tsv", "ragtruth", "inspect", "arrow", "datasets"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = ("jsonl", "json", "csv", "tsv", "ragtruth", "inspect", "arrow", "datasets")
"""Supported formats.

"inspect" is an .eval archive (a log in JSON is "json"), "arrow" a Parquet, Arrow or Feather file, and "datasets" a
folder of Hugging Face ``datasets``.
"""
WRAPPERS = ("samples", "data", "records", "rows", "examples", "results")
"""Names under which a JSON object may have the list of rows ("samples" in Ragas and Inspect)."""
_SUFFIXES: Mapping[str, AnswerFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".eval": "inspect",
    **dict.fromkeys(ARROW_SUFFIXES, "arrow"),
    ".csv": "csv",
    ".tsv": "tsv",
}
_HEAD_BYTES = 65_536
_MAX_CELL_CHARACTERS = 50_000_000
_COMPRESSED_SUFFIXES = (".gz", ".bz2")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def answer_format(path: Path) -> AnswerFormat:
    """Return the format of a file or folder, by its content and its name.

    Raises DataError if the format is unknown or not supported, or does not match the name.
    """
    if path.is_dir():
        if is_dataset_folder(path):
            return "datasets"
        if find_ragtruth(path) is None:
            raise DataError(
                f"{shown(path)} is a folder without state.json (Hugging Face datasets) and without response.jsonl and "
                "source_info.jsonl (RAGTruth): give a file of answers"
            )
        return "ragtruth"
    if not path.exists():
        raise DataError(f"{shown(path)} does not exist: give a file of answers")
    binary = _binary_format(path)
    if binary is not None:
        return binary
    head = _head(path)
    first = next((line for line in head.splitlines() if line.strip()), "")
    if _is_ragtruth(first) and find_ragtruth(path) is not None:
        return "ragtruth"
    suffixes = [s.lower() for s in path.suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED_SUFFIXES:
        suffixes.pop()
    named = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if named == "jsonl" and first.strip().startswith("["):
        raise DataError(
            f"{shown(path)} is a JSON list, not JSON Lines: name it {path.name.partition('.')[0]}.json, give "
            "the format json, or write one object per line",
            parameter="format",
        )
    if named == "json" and first and isinstance(_json(first), dict) and len(head.splitlines()) > 1:
        return "jsonl"  # one object per line, regardless of the name
    if named is not None:
        return named
    if not first:
        raise DataError(f"{shown(path)} is empty: there is no answer to score")
    if first.lstrip().startswith("["):
        return "json"
    if first.lstrip().startswith("{"):
        return "jsonl" if isinstance(_json(first), dict) else "json"
    return "tsv" if "\t" in first else "csv"


def read_rows(path: Path, layout: AnswerFormat, split: str | None = None) -> Iterator[Row | Refused]:
    """Yield the rows of a file that is not in RAGTruth's layout, and a Refused in place of each unreadable row.

    split: split to read from a folder of ``datasets``. Raises DataError if the file is unreadable.
    """
    if layout == "jsonl":
        for line in read_jsonl(path, nan_is_null=True):
            yield line if isinstance(line, Refused) else plain_row(line.number, line.where, line.fields)
    elif layout == "json":
        yield from _json_rows(path)
    elif layout == "inspect":
        yield from archive_rows(path)
    elif layout == "datasets":
        for number, (where, fields) in enumerate(dataset_rows(path, split), start=1):
            yield plain_row(number, where, fields)
    elif layout == "arrow":
        for number, fields in enumerate(arrow_rows(path), start=1):
            yield plain_row(number, f"{shown(path)}, row {number}", fields)
    elif layout in ("csv", "tsv"):
        yield from _table_rows(path, layout)
    else:
        raise ValueError(f"{layout} has no rows")


def _binary_format(path: Path) -> AnswerFormat | None:
    """Return the format of a binary file; None for text. Raises DataError for an unsupported format."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error}") from error
    if is_arrow(path, start):
        return "arrow"
    if start.startswith(b"PK") and is_inspect_archive(path):
        return "inspect"
    if path.suffix.lower() not in _COMPRESSED_SUFFIXES and (what := foreign_format(path, start)):
        raise DataError(f"{shown(path)} is {what}")
    if path.suffix.lower() in (*ARROW_SUFFIXES, ".eval"):
        raise DataError(
            f"{shown(path)} does not have the format of its name: it starts with {start[:8]!r}; is it damaged?"
        )
    return None


def _json_rows(path: Path) -> Iterator[Row | Refused]:
    try:
        with _open(path) as file:
            content = file.read()
            value = json.loads(content.decode(_encoding(content)))
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{shown(path)} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{shown(path)} is not JSON ({error}): fix it, or write JSON Lines (.jsonl)") from error
    if is_inspect_log(value):
        yield from log_rows(value, shown(path))
        return
    if isinstance(value, dict):
        rows = items_of(value)
        if rows is None:
            rows = next((value[name] for name in WRAPPERS if isinstance(value.get(name), list)), None)
        if rows is None and (columns := _columns(value)) is not None:
            rows = columns
        value = [value] if rows is None else rows
    if not isinstance(value, list):
        raise DataError(f"{shown(path)} contains {kind_of(value)}: it must be a list with one object per answer")
    yield from rows_of(value, shown(path))


def _columns(value: Mapping[str, Any]) -> list[dict[str, object]] | None:
    """Return the rows of an object of equally long lists (datasets, pandas orient="list"); None for other objects."""
    lists = [v for v in value.values() if isinstance(v, list)]
    if len(lists) < 2 or len(lists) < len(value) or len({len(v) for v in lists}) != 1:
        return None
    return [dict(zip(value, cells, strict=True)) for cells in zip(*lists, strict=True)]


def _table_rows(path: Path, layout: AnswerFormat) -> list[Row | Refused]:
    """Return all rows of a table.

    It is no generator, because Python's limit on the size of a cell is global and must be restored before other code
    runs.
    """
    name = shown(path)
    before = csv.field_size_limit(_MAX_CELL_CHARACTERS)
    try:
        with _open(path) as raw, io.TextIOWrapper(raw, encoding=_file_encoding(path), newline="") as file:
            table = TableLayout("\t") if layout == "tsv" else _layout(_head(path))
            if table.declared:
                file.readline()
            reader = csv.reader(file, delimiter=table.delimiter, strict=True)
            header = next((cells for cells in reader if any(c.strip() for c in cells)), None)
            if header is None:
                return []
            lines = [(reader.line_num, cells) for cells in reader if any(cells)]
            kept = _kept_columns(header, lines)
            _check_header([header[n] for n in kept], name)
            return [_cells(header, cells, number, name, kept) for number, cells in lines]
    except csv.Error as error:
        raise DataError(f"{name} is not a readable table ({error}): check its quotes and its separator") from error
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name} cannot be read: {error}") from error
    finally:
        csv.field_size_limit(before)


def _kept_columns(header: list[str], lines: list[tuple[int, list[str]]]) -> list[int]:
    """Return the positions of the columns that are not copies of an earlier column with the same name.

    Data frames write their index in addition to a column of its name.
    """
    kept: list[int] = []
    for n, column in enumerate(header):
        first = header.index(column)
        copied = first < n and bool(lines) and all(len(c) == len(header) and c[n] == c[first] for _, c in lines)
        if not (copied and column.strip()):
            kept.append(n)
    return kept


def _cells(header: list[str], cells: list[str], number: int, name: str, kept: list[int]) -> Row | Refused:
    where = f"{name}:{number}"
    if len(cells) != len(header):
        return Refused(where, f"the row that ends here has {len(cells)} cells, but the header has {len(header)}")
    fields = {header[n]: cells[n] if cells[n].strip() else None for n in kept}
    return plain_row(number, where, fields, cells=True)


def _check_header(header: list[str], name: str) -> None:
    names = [cell.strip() for cell in header]
    doubled = next((n for n in names if n and names.count(n) > 1), None)
    if doubled is not None:
        raise DataError(f"{name} has two columns {doubled!r}: give each column its own name")
    if any(len(n) > 80 or len(n.split()) > 6 for n in names):
        raise DataError(
            f"the first line of {name} looks like an answer, not like a header ({names[0][:60]!r}...): add a line with "
            "the names of the columns, such as question,contexts,answer"
        )


def _layout(head: str) -> TableLayout:
    lines = head.splitlines(keepends=True)
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    found = table_layout(lines[first:], complete=len(head) < _HEAD_BYTES)
    return found if found.delimiter != NO_DELIMITER else TableLayout(",")


def _open(path: Path) -> IO[bytes]:
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    opened: IO[bytes] = openers.get(path.suffix.lower(), io.open)(path, "rb")
    return opened


def _head(path: Path) -> str:
    try:
        with _open(path) as file:
            content = file.read(_HEAD_BYTES)
            return content.decode(_encoding(content), "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{shown(path)} cannot be read: {error}") from error


def _encoding(content: bytes) -> str:
    """Return UTF-16 if the content starts with its byte order mark (Excel's "Unicode text"), else UTF-8."""
    return "utf-16" if content.startswith(_UTF16) else "utf-8-sig"


def _file_encoding(path: Path) -> str:
    with _open(path) as file:
        return _encoding(file.read(2))


def _not_text(path: Path, error: UnicodeDecodeError) -> DataError:
    return DataError(
        f"{shown(path)} is not {error.encoding.upper().removesuffix('-SIG')} text ({error.reason} at byte "
        f"{error.start}): save it as UTF-8 (in Excel: CSV UTF-8)"
    )


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_ragtruth(line: str) -> bool:
    value = _json(line)
    return isinstance(value, dict) and {"response", "source_id", "labels"} <= value.keys()
