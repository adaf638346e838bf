"""Read a log file (JSON Lines, a JSON document, or CSV). Each record gives a question or the reason why it has none."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data.errors import DataError
from data.jsonl import read_jsonl
from data.question_logs.shapes import is_root, question_in, records_in
from data.refused import Refused, shown

_COLUMNS: Final = ("question", "query", "user_input", "input", "prompt", "text", "message", "content")
_MAX_BYTES: Final = 500_000_000
NO_QUESTION: Final = "it contains no question of a user"
CHILD_SPAN: Final = "it is a part of a trace whose root has the question"


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A record of a log.

    where: ``path, record N``, from 1. text: the question, stripped; "" if there is none. reason: why there is none.
    """

    where: str
    text: str
    reason: str = ""


def read_log(path: Path, column: str | None = None) -> Iterator[LoggedQuestion]:
    """Yield every record of a log.

    column: name of the question column of a CSV file, None to find it by its usual names. Raises DataError for a file
    that is unreadable or empty, and for a table without such a column.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError(f"{shown(path)} is larger than {_MAX_BYTES // 1_000_000} MB: split it")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"the log {shown(path)} cannot be read ({error})") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"the log {shown(path)} is not UTF-8 text ({error}): export it as JSON, JSON Lines or CSV"
        ) from error
    if not text.strip():
        raise DataError(f"the log {shown(path)} is empty")
    if text.lstrip()[:1] not in "{[":
        yield from _read_table(path, text, column)
        return
    if column is not None:
        raise DataError(
            f"{shown(path)} is JSON: a column ({column!r}) can be named for CSV files only", parameter="column"
        )
    records = list(_read_records(path, text))
    roots = any(isinstance(record, dict) and is_root(record) for _, record in records)
    for where, record in records:
        if isinstance(record, str):
            yield LoggedQuestion(where, "", record)
        elif roots and not is_root(record):
            yield LoggedQuestion(where, "", CHILD_SPAN)
        else:
            found = question_in(record)
            yield LoggedQuestion(where, found or "", "" if found else NO_QUESTION)


def _read_records(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """Yield the records, or the reason why a line is invalid, each with its location."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        number = 0
        for line in read_jsonl(path, nan_is_null=True):
            if isinstance(line, Refused):
                yield shown(path), str(line)
                continue
            for record in records_in(line.fields):
                number += 1
                yield f"{shown(path)}, record {number}", record
        return
    for number, record in enumerate(records_in(document), start=1):
        yield f"{shown(path)}, record {number}", record


def _read_table(path: Path, text: str, column: str | None) -> Iterator[LoggedQuestion]:
    first = text.lstrip().split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = csv.DictReader(io.StringIO(text), delimiter=separator)
    names = {str(name).strip().casefold(): name for name in rows.fieldnames or ()}
    candidates = (column.casefold(),) if column is not None else _COLUMNS
    chosen = next((names[name] for name in candidates if name in names), None)
    if chosen is None:
        listed = ", ".join(repr(name) for name in list(names)[:12])
        raise DataError(
            f"{shown(path)} is a table without a column {' or '.join(candidates)}: name one of {listed}",
            parameter="column",
        )
    try:
        for number, row in enumerate(rows, start=1):
            question = (row.get(chosen) or "").strip()
            yield LoggedQuestion(f"{shown(path)}, record {number}", question, "" if question else NO_QUESTION)
    except csv.Error as error:
        raise DataError(f"{shown(path)}, line {rows.line_num}: {error}") from error
