"""Read the rows of a question file in JSON, CSV, TSV, Parquet, Arrow, an Inspect log or a folder of ``datasets``.

Rows of tables, lists and logs without an ID get their number as ID. Cells of tables are converted to lists and
booleans.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from data.answer_labels import flag_of
from data.answer_rows import AnswerFormat, answer_format, read_rows
from data.answer_shapes.conversations import is_conversation, last_turn
from data.dataset_folder import is_dataset_folder
from data.errors import DataError
from data.jsonl import JsonLine, read_jsonl
from data.question_json import ANSWERABLE, IDS, REFERENCES, TEXTS
from data.refused import Refused, shown
from data.rows import Row
from data.written_lists import ShortenedListError, written_list

_HEAD: Final = 4096
_LISTS: Final = frozenset((*REFERENCES, "relevant_document_ids", "reviewed_by", "evidence"))
_ALWAYS_LISTS: Final = frozenset(("references", "answers", "relevant_document_ids", "reviewed_by"))
_LOG_FIELDS: Final = ("epoch", "output", "model", "metadata")
_FROM_METADATA: Final = ("answerable", "kind", "relevant_document_ids", "evidence")


def is_question_folder(path: Path) -> bool:
    """Return whether question_rows can read a folder."""
    return is_dataset_folder(path)


def question_rows(path: Path) -> Iterator[JsonLine | Row | Refused]:
    """Yield the rows of a question file. Raises DataError if the file is unreadable or has another format."""
    layout = _layout(path)
    if layout == "jsonl":
        for line in read_jsonl(path, nan_is_null=True):
            yield (
                line
                if isinstance(line, Refused)
                else JsonLine(line.number, line.where, _with_last_question(line.fields))
            )
        return
    seen: dict[object, Mapping[str, object]] = {}
    for row in read_rows(path, layout):
        if isinstance(row, Refused):
            yield row
            continue
        try:
            fields = _cells(row.fields) if layout in ("csv", "tsv") else _with_last_question(row.fields)
        except (ShortenedListError, ValueError) as error:
            yield Refused(row.where, str(error), "part")
            continue
        if _is_log_sample(fields):
            fields = _question_of_sample(fields)
            if seen.get(fields.get("id")) == fields:
                continue  # another epoch of the same sample
            seen[fields.get("id")] = fields
        if not any(fields.get(name) is not None for name in IDS):
            fields = {"id": str(row.number), **fields}
        yield Row(row.number, row.where, fields)


def _layout(path: Path) -> AnswerFormat:
    """Return the format of a file. Raises DataError as answer_format does."""
    try:
        if not path.is_dir():
            with path.open("rb") as file:
                head = file.read(_HEAD)
            if not head.strip():
                return "jsonl"  # read_jsonl refuses empty files
            if path.suffix.lower() == ".jsonl" and head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
                return "json"
        found = answer_format(path)
    except OSError as error:
        raise DataError(f"the file of questions {shown(path)} cannot be read ({error})") from error
    except DataError as error:
        raise DataError(f"the file of questions {error}") from error
    return "jsonl" if found == "ragtruth" else found


def _with_last_question(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields, with the last question of a conversation (Inspect, Ragas) in place of its messages."""
    found = dict(fields)
    for name in TEXTS:
        turns = found.get(name)
        if isinstance(turns, list) and is_conversation(turns):
            found[name] = last_turn(turns, answered=True).question
    return found


def _is_log_sample(fields: Mapping[str, object]) -> bool:
    """Return whether a row is a sample of an Inspect log (data.inspect_logs)."""
    output = fields.get("output")
    return "epoch" in fields and "input" in fields and isinstance(output, Mapping) and "completion" in output


def _question_of_sample(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the question of a sample and the metadata of the question, without the answer."""
    metadata = fields.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    kept = {name: value for name, value in fields.items() if name not in _LOG_FIELDS}
    kept |= {name: known[name] for name in _FROM_METADATA if known.get(name) not in (None, "")}
    return kept | ({"id": known["group"]} if isinstance(known.get("group"), str) and known["group"] else {})


def _cells(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the cells of a table row as JSON values: normalised names, parsed lists and booleans."""
    found: dict[str, object] = {}
    for header, value in fields.items():
        plain = header.strip().casefold().replace(" ", "_").replace("-", "_")
        name = plain if plain in _LISTS or plain in TEXTS or plain in IDS or plain in ANSWERABLE else header.strip()
        if plain in ANSWERABLE:
            found[name] = flag_of(name, value)
        elif plain in _LISTS and isinstance(value, str):
            listed = written_list(value) if value.lstrip().startswith("[") else value
            found[name] = [value] if plain in _ALWAYS_LISTS and isinstance(listed, str) else listed
        else:
            found[name] = value
    return found
