"""Write answers to label as CSV for spreadsheets, and read the filled-in labels."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.errors import DataError
from data.refused import Refused, printable, shown

COLUMNS = ("item", "label", "question", "answer", "references", "evidence", "remark")
"""Columns of a written file. Only item, label and, if present, annotator are read."""
WORDS = ("supported", "hallucinated", "abstained", "cannot tell")
"""Labels that people can fill in. The first letter, or u for the last one, is accepted too."""

_LABELS = {"s": "supported", "h": "hallucinated", "a": "abstained", "u": "unscored"} | {
    **{word: word for word in ("supported", "hallucinated", "abstained", "unscored")},
    **dict.fromkeys(("cannot tell", "can not tell", "can't tell", "unsure", "undecided", "unknown"), "unscored"),
    **{"not hallucinated": "supported", "refused": "abstained", "refusal": "abstained"},
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MAX_CHARACTERS = 1_000_000
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class LabelRow:
    """An item to label, as shown in a spreadsheet. label: its stored label; "" if it has none."""

    item: str
    label: str
    question: str
    answer: str
    references: str
    evidence: str
    remark: str


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """A filled-in line. label: supported, hallucinated, abstained or unscored. where: ``file:line``."""

    item: str
    label: str
    annotator: str
    where: str


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of a file.

    blank: number of lines without a label. problems: invalid lines. If there are any, no label may be stored.
    """

    labels: tuple[ReadLabel, ...]
    blank: int
    problems: tuple[Refused, ...]


def label_of_word(text: str) -> str | None:
    """Return the label to store for a word or letter, compared without case; None for other texts."""
    return _LABELS.get(" ".join(text.replace("_", " ").split()).casefold())


def label_word(label: str) -> str:
    """Return the word that a file shows for a stored label."""
    return "cannot tell" if label == "unscored" else label


def write_labels(path: Path, rows: Iterable[LabelRow]) -> int:
    """Write the file atomically and return the number of rows.

    The file is UTF-8 with the byte order mark that spreadsheets expect. Cells that a spreadsheet would treat as a
    formula get a leading '. Raises DataError, which names the path.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    count = 0
    try:
        with temporary.open("x", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row in rows:
                cells = (row.item, label_word(row.label), row.question, row.answer, row.references, row.evidence)
                writer.writerow([_escape_cell(cell) for cell in (*cells, row.remark)])
                count += 1
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise DataError(
            f"cannot write the labels to {shown(path)}: {error.strerror}. Choose an existing folder"
        ) from error
    return count


def read_labels(path: Path, items: Iterable[str], annotator: str) -> LabelFile:
    """Read filled-in labels.

    items: valid item IDs. annotator: annotator of the lines that name none. Comma, semicolon and tab are accepted as
    separators. Raises DataError if the file cannot be read, or lacks the columns item and label.
    """
    return parse_labels(label_file_content(path), shown(path), items, annotator)


def label_file_content(path: Path) -> bytes:
    """Return the bytes of a file of labels. Raises DataError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read the labels in {shown(path)}: {error.strerror}") from error


def parse_labels(content: bytes, name: str, items: Iterable[str], annotator: str) -> LabelFile:
    """Parse the content of a file of labels; see ``read_labels``. name: display name of the file."""
    known = frozenset(items)
    header, lines = _lines(name, _text(name, content))
    column = {name: header.index(name) for name in ("item", "label", "annotator") if name in header}
    labels: list[ReadLabel] = []
    problems: list[Refused] = []
    first: dict[tuple[str, str], str] = {}
    blank = 0
    for number, cells in lines:
        where = f"{name}:{number}"
        item, word, who = (
            cells[column[n]].strip() if n in column and column[n] < len(cells) else ""
            for n in ("item", "label", "annotator")
        )
        who = who or annotator
        label = label_of_word(word)
        if not word:
            blank += 1
        elif item not in known:
            problem = f"there is no item {printable(item[:80])!r} in this draw: use the file exported for this draw"
            problems.append(Refused(where, problem))
        elif label is None:
            problems.append(
                Refused(where, f"the label {printable(word[:80])!r} must be one of {', '.join(WORDS)}, or empty")
            )
        elif (item, who) in first:
            problem = f"item {item} was already labelled in line {first[item, who]}: keep one of them"
            problems.append(Refused(where, problem))
        else:
            first[item, who] = str(number)
            labels.append(ReadLabel(item, label, who, where))
    return LabelFile(tuple(labels), blank, tuple(problems))


def problems_message(name: str, problems: Sequence[Refused]) -> str:
    """Return one message for all problems of a file."""
    listed = "; ".join(str(p) for p in problems[:_SHOWN])
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return f"nothing was imported from {name}, because {len(problems)} lines are invalid: {listed}{more}"


def _text(name: str, raw: bytes) -> str:
    if not raw.strip():
        raise DataError(f"{name} is empty: export a file first")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name} is not UTF-8 at byte {error.start}: save it as CSV UTF-8 (spreadsheets offer that)"
        ) from None


def _lines(name: str, text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the column names, and the number and cells of every line that is not empty."""
    head = text.partition("\n")[0]
    separator = max((",", ";", "\t"), key=head.count)
    limit = csv.field_size_limit(_MAX_CHARACTERS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    lines = []
    end = 0
    try:
        for cells in reader:
            number, end = (
                end + 1,
                reader.line_num,
            )  # a cell may contain line breaks: a row's number is that of its first line
            if not any(cell.strip() for cell in cells):
                continue
            if header:
                lines.append((number, cells))
            else:
                header = [cell.strip().casefold() for cell in cells]
    except csv.Error as error:
        raise DataError(f"{name}:{reader.line_num}: not CSV ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if missing := [column for column in ("item", "label") if column not in header]:
        raise DataError(
            f"{name} has no column {missing[0]!r}, it has {', '.join(map(printable, header)) or 'none'}: use "
            "an exported file and fill in its column label"
        )
    return header, lines


def _escape_cell(cell: str) -> str:
    """Return the cell without control characters, and with a leading ' if a spreadsheet would treat it as a formula."""
    text = _CONTROL.sub("\ufffd", cell)
    return f"'{text}" if text.startswith(_FORMULA) else text
