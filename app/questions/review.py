"""Review the questions of a file. Each decision is written at once, and several people can review the same file."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from app.errors import AppError
from data.atomic_write import atomic_write
from data.fields import FieldError
from data.jsonl import read_jsonl
from data.question_json import question_from_fields
from data.question_loader import load_questions
from data.questions import Question
from data.refused import Refused

Decision = Literal["kept", "mended", "dropped", "unanswerable"]
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """The progress of a review.

    questions: number of questions in the file. reviewed: number of questions that anyone has reviewed. dropped: number
    of questions that were moved to the file of dropped questions. by: number of reviewed questions of each reviewer.
    """

    questions: int
    reviewed: int
    dropped: int
    by: tuple[tuple[str, int], ...]


class QuestionReview:
    """The review of a question file (JSON Lines) by one person."""

    def __init__(self, path: Path, reviewer: str) -> None:
        """Check the file and the reviewer's name.

        Raises DataError for a file without valid questions, AppError for an invalid name or another file format.
        """
        if not reviewer.strip() or len(reviewer) > _LONGEST_NAME or not reviewer.isprintable():
            raise AppError(f"--reviewer {reviewer!r}: give a name of 1 to {_LONGEST_NAME} printable characters")
        if path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
            raise AppError(f"{path}: only a plain JSON Lines file can be reviewed; write the questions to FILE.jsonl")
        load_questions(path)
        self.path, self.reviewer = path, reviewer.strip()

    @property
    def dropped_path(self) -> Path:
        """Path of the file of dropped questions."""
        return self.path.with_name(f"{self.path.stem}.dropped.jsonl")

    def questions(self) -> list[Question]:
        """Return the current questions of the file, in order."""
        return [question_from_fields(row) for row in self._rows(self.path)]

    def open_questions(self) -> list[Question]:
        """Return the questions that this person has not reviewed."""
        return [question for question in self.questions() if self.reviewer not in question.reviewed_by]

    def find(self, question_id: str) -> Question:
        """Return the question with this ID. Raises AppError if it is no longer in the file."""
        for question in self.questions():
            if question.id == question_id:
                return question
        raise AppError(f"{self.path} no longer has the question {question_id!r}: someone dropped it")

    def keep(self, question_id: str) -> None:
        """Mark a question as reviewed and correct. Raises AppError if it is no longer in the file."""
        self._change(question_id, "kept", {})

    def mend(self, question_id: str, text: str | None, references: tuple[str, ...] | None) -> None:
        """Change the text of a question, its references, or both. None leaves them unchanged.

        New references remove the evidence spans, which belong to the old answer. Raises AppError for an empty text or
        empty references.
        """
        changed: dict[str, object] = {}
        if text is not None:
            if not text.strip():
                raise AppError(f"question {question_id!r}: the new text is empty")
            changed["text"] = text.strip()
        if references is not None:
            kept = [reference.strip() for reference in references if reference.strip()]
            if not kept:
                raise AppError(f"question {question_id!r}: give at least one reference answer, or mark it unanswerable")
            changed |= {"references": kept, "answerable": True, "evidence": []}
        self._change(question_id, "mended", changed)

    def mark_unanswerable(self, question_id: str) -> None:
        """Mark a question as not answered by the documents."""
        self._change(question_id, "unanswerable", {"references": [], "answerable": False, "evidence": []})

    def drop(self, question_id: str) -> None:
        """Move a question to the file of dropped questions. Raises AppError for the last question of the file."""
        with self._locked():
            rows = self._rows(self.path)
            row = _find(rows, question_id, self.path)
            rest = [other for other in rows if other is not row]
            if not rest:
                raise AppError(
                    f"question {question_id!r} is the last of {self.path}: a question file must not be empty"
                )
            dropped = self._rows(self.dropped_path) if self.dropped_path.exists() else []
            _write(self.dropped_path, [*dropped, self._noted(row, "dropped")])
            _write(self.path, rest)

    def progress(self) -> ReviewProgress:
        """Return the progress of the review."""
        questions = self.questions()
        names = sorted({name for question in questions for name in question.reviewed_by})
        by = tuple((name, sum(name in q.reviewed_by for q in questions)) for name in names)
        dropped = len(self._rows(self.dropped_path)) if self.dropped_path.exists() else 0
        return ReviewProgress(len(questions), sum(bool(q.reviewed_by) for q in questions), dropped, by)

    def _change(self, question_id: str, decision: Decision, changed: dict[str, object]) -> None:
        with self._locked():
            rows = self._rows(self.path)
            row = _find(rows, question_id, self.path)
            if changed:
                for name in ("question", "query", "answers"):  # remove other names of the changed fields
                    if ("text" in changed and name != "answers") or ("references" in changed and name == "answers"):
                        row.pop(name, None)
                row.update(changed)
                row["reviewed_by"] = []  # reviews of the old question do not apply to the changed one
            noted = self._noted(row, decision)
            try:
                question_from_fields(noted)
            except FieldError as error:
                raise AppError(f"question {question_id!r}: {error}") from error
            row.clear()
            row.update(noted)
            _write(self.path, rows)

    def _noted(self, row: dict[str, object], decision: Decision) -> dict[str, object]:
        before = row.get("reviewed_by")
        names = [str(name) for name in before] if isinstance(before, list) else []
        history = row.get("review")
        entry = {"by": self.reviewer, "decision": decision, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        return {
            **row,
            "reviewed_by": list(dict.fromkeys([*names, self.reviewer])),
            "review": [*(history if isinstance(history, list) else []), entry],
        }

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.path.with_name(f".{self.path.name}.lock")
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _rows(self, path: Path) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        for line in read_jsonl(path, nan_is_null=True):
            if isinstance(line, Refused):
                raise AppError(f"{line}: correct the file, then continue")
            rows.append(line.fields)
        return rows


def _find(rows: list[dict[str, object]], question_id: str, path: Path) -> dict[str, object]:
    for row in rows:
        if question_from_fields(row).id == question_id:
            return row
    raise AppError(f"{path} no longer has the question {question_id!r}: someone dropped it")


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    with atomic_write(path) as part:
        part.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
