"""Load answers of other systems from files of many formats. Incomplete answers and repeated IDs are errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.answer_records import AnswerRecord, known_names, record_from_fields, unused_names
from data.answer_rows import AnswerFormat, answer_format, read_rows
from data.answer_shapes.unfolding import unfolded
from data.errors import DataError
from data.fields import FieldError
from data.ragtruth import load_ragtruth
from data.record_fields import FieldNames
from data.refused import Refused, shown
from data.rows import LeftOut, Row, rows_of

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The answers that were read.

    format: format of the files; several are joined with "+". columns: parts of a record and the names of the fields
    that they were first read from. skipped: "file:line: reason" of rows that ``skip_bad`` left out. notes: messages for
    the user.
    """

    records: tuple[AnswerRecord, ...]
    format: str
    columns: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def load_answers(
    paths: Sequence[Path],
    *,
    layout: AnswerFormat | None = None,
    names: FieldNames | None = None,
    split: str | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
) -> AnswerFile:
    """Load the answers of several files.

    layout: format of all files; None detects the format of each. names: names of the fields to read. split: split to
    read in RAGTruth's layout ("test" by default, if there is one) or from a folder of ``datasets``. skip_bad: whether
    to leave out bad rows and list them. limit: maximum number of answers; None for all.

    Raises DataError, which names file and line, for unreadable rows, repeated IDs and invalid labels (unless
    ``skip_bad``), for missing files, and if there is no answer.
    """
    if not paths:
        raise DataError("no file of answers was given")
    collected = _Collected(names or FieldNames(), skip_bad)
    formats: list[str] = []
    for path in paths:
        file_format = layout or answer_format(path)
        formats.append(file_format)
        if file_format == "ragtruth":
            collected.ragtruth(path, split, limit)
        elif split is not None and file_format != "datasets":
            raise DataError(
                f"only RAGTruth's layout and folders of datasets have a split {split!r}, but {shown(path)} is "
                f"{file_format}",
                parameter="split",
            )
        else:
            prefix = f"{path.name}:" if len(paths) > 1 else ""
            collected.rows(read_rows(path, file_format, split), prefix, file_format in ("csv", "tsv"), shown(path))
    return collected.file(", ".join(map(shown, paths)), "+".join(dict.fromkeys(formats)), limit)


def answers_from_rows(
    rows: Iterable[Mapping[str, object]], *, names: FieldNames | None = None, skip_bad: bool = False
) -> AnswerFile:
    """Load answers from objects in memory, as ``load_answers`` does from files, with the same errors."""
    collected = _Collected(names or FieldNames(), skip_bad)
    collected.rows(rows_of(rows, "rows"), "", False)
    return collected.file("the rows given", "rows", None)


class _Collected:
    """The records and problems collected so far."""

    def __init__(self, names: FieldNames, skip_bad: bool) -> None:
        self._names, self._skip_bad = names, skip_bad
        self._records: list[AnswerRecord] = []
        self._problems: list[str] = []
        self._notes: list[str] = []
        self._columns: dict[str, str] = {}
        self._first_used: dict[tuple[str, str, str], str] = {}
        self._ignored: dict[str, str] = {}
        self._left: dict[str, list[str]] = {}
        self._evidence = 0

    def rows(self, rows: Iterable[Row | Refused], prefix: str, cells: bool, name: str = "rows") -> None:
        """Add records from rows.

        prefix: prefix of the generated IDs of records without an ID. cells: whether values are cells of a table. name:
        display name of the file.
        """
        for row in unfolded(rows, name):
            if isinstance(row, Refused):
                self._problem(str(row))
                continue
            if isinstance(row, LeftOut):
                self._left.setdefault(row.reason, []).append(row.where)
                continue
            try:
                record = record_from_fields(row.fields, f"{prefix}{row.number}", row.where, self._names, cells)
            except FieldError as error:
                self._problem(f"{row.where}: {error}")
                continue
            known = known_names(row.fields, self._names, record)
            for part, name in known.items():
                self._columns.setdefault(part, name)
            self._evidence += known.get("contexts") == "reference"
            for name in unused_names(row.fields, self._names):
                self._ignored.setdefault(name, row.where)
            self._keep(record)

    def ragtruth(self, path: Path, split: str | None, limit: int | None) -> None:
        """Add records from a folder or file in RAGTruth's layout."""
        read = load_ragtruth(path, split=split, skip_bad=self._skip_bad, limit=limit)
        self._problems.extend(read.skipped)
        if read.trimmed:
            self._notes.append(f"{read.trimmed} responses have a span beyond their end, which was truncated")
        if read.split != "all":
            self._notes.append(f"only the split {read.split!r} is scored; choose the split all to score every response")
        self._columns |= {"answer": "response", "contexts": "source_info", "arm": "model", "group": "source_id"}
        self._columns |= {"spans": "labels"} if self._names.labels else {}
        for r in read.responses:
            self._keep(
                AnswerRecord(
                    r.id,
                    r.question,
                    r.text,
                    (r.evidence,) if r.evidence.strip() else (),
                    arm=r.model or "answers",
                    group=r.source_id,
                    hallucinated=r.hallucinated if self._names.labels else None,
                    spans=r.spans if self._names.labels else (),
                    where=f"{shown(path)}: response {r.id}",
                    kind=r.task,
                )
            )

    def file(self, name: str, layout: str, limit: int | None) -> AnswerFile:
        """Return the result. Raises DataError if there is a problem, or no record.

        name: display name of the files. layout: their format.
        """
        if self._problems and not self._skip_bad:
            count = len(self._problems)
            listed = "\n".join(f"  {problem}" for problem in self._problems[:_SHOWN])
            more = f"\n  and {count - _SHOWN} more" if count > _SHOWN else ""
            raise DataError(
                f"{count} {'problem' if count == 1 else 'problems'} in {name}: fix them, or skip and count "
                f"them\n{listed}{more}",
                parameter="skip_bad",
            )
        if not self._records:
            left = [f"; {len(self._problems)} lines were left out, the first: {p}" for p in self._problems[:1]]
            left += [f"; {note}" for note in self._left_notes()]
            raise DataError(f"there is no answer in {name}: nothing to score{''.join(left)}")
        records = tuple(self._records[:limit])
        notes = (*self._notes, *self._left_notes(), *self._field_notes())
        return AnswerFile(records, layout, tuple(self._columns.items()), tuple(self._problems), notes)

    def _left_notes(self) -> list[str]:
        """Return notes about records that are not answers."""
        return [f"{len(places)} left out: {reason} (first {places[0]})" for reason, places in self._left.items()]

    def _field_notes(self) -> list[str]:
        """Return notes about how fields were read."""
        notes = []
        if self._evidence:
            notes.append(
                f'"reference" of {self._evidence} answers was read as the evidence for the answer, as in RefChecker; '
                "name it as the field of the references to read it as accepted answers"
            )
        if self._ignored:
            first = next(iter(self._ignored.values()))
            names = ", ".join(f'"{name[:40]}"' for name in list(self._ignored)[:8])
            notes.append(
                f"fields that were not read: {names} (first at {first}). If one is the answer, its contexts or its "
                "references, name it as the field of these"
            )
        return notes

    def _keep(self, record: AnswerRecord) -> None:
        key = (record.arm, record.id, record.sample)
        if key in self._first_used:
            what = f"the id {record.id!r}" + (f" of {record.arm!r}" if record.arm != "answers" else "")
            self._problem(
                f"{record.where}: {what} was already used at {self._first_used[key]} (several answers with one id need "
                "a field with the number of the sample)"
            )
            return
        self._first_used[key] = record.where
        self._records.append(record)

    def _problem(self, message: str) -> None:
        self._problems.append(message)
