"""Load questions from JSON, tables, Parquet, Arrow, logs of Inspect and BEIR folders. Any bad row is an error."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data.beir import read_judgements
from data.errors import DataError
from data.fields import FieldError
from data.jsonl import JSONL_SUFFIXES
from data.question_json import ignored_fields, question_from_fields
from data.question_rows import is_question_folder, question_rows
from data.questions import Question
from data.refused import Refused, shown

SHOWN_PROBLEMS = 10
LOGGER = "plumbline.questions"


def load_questions(path: Path) -> tuple[Question, ...]:
    """Load the questions of one file or folder, in order; see load_question_files."""
    return load_question_files((path,))


def load_question_files(paths: Sequence[Path]) -> tuple[Question, ...]:
    """Load the questions of several files.

    A path is a file of JSON Lines, a JSON list, CSV or TSV with a header (each plain or compressed), Parquet, Arrow, a
    log of Inspect, or a folder of Hugging Face ``datasets``; data/question_json.py describes the fields. It may also be
    a BEIR folder. The questions are then the queries in queries.jsonl that qrels/test.tsv judges; documents with a
    grade above 0 are relevant, and there are no references.

    Nothing is skipped, because a rate over fewer questions than intended would be wrong. Raises one DataError for all
    bad lines, repeated IDs and files without questions, which shows the first ten. Ignored fields are logged in one
    warning of the logger "plumbline.questions", with the number of questions that have them.
    """
    if not paths:
        raise DataError("no file of questions was given")
    collected = _Collected()
    for path in paths:
        collected.add(path)
    return collected.checked()


class _Collected:
    """The questions and problems collected so far."""

    def __init__(self) -> None:
        self._questions: list[Question] = []
        self._problems: list[str] = []
        self._first_used: dict[str, str] = {}
        self._names: list[str] = []
        self._ignored: Counter[str] = Counter()

    def add(self, path: Path) -> None:
        self._names.append(shown(path))
        try:
            is_folder = path.is_dir()
            if not is_folder and not path.exists():
                raise DataError(f"the file of questions {shown(path)} does not exist: check the spelling")
        except (OSError, ValueError) as error:
            raise DataError(f"the file of questions {shown(path)} cannot be read ({error})") from error
        before = len(self._questions) + len(self._problems)
        if is_folder and not is_question_folder(path):
            self._beir(path)
        else:
            self._questions.extend(self._file(path))
        if len(self._questions) + len(self._problems) == before:
            self._problems.append(f"{shown(path)}: it contains no questions")

    def checked(self) -> tuple[Question, ...]:
        """Return all questions. Raises DataError if there is a problem."""
        if self._problems:
            count = len(self._problems)
            listed = "\n".join(f"  {problem}" for problem in self._problems[:SHOWN_PROBLEMS])
            more = f"\n  and {count - SHOWN_PROBLEMS} more" if count > SHOWN_PROBLEMS else ""
            raise DataError(
                f"{count} {'problem' if count == 1 else 'problems'} in the questions of {', '.join(self._names)}: "
                f"correct them; nothing was loaded\n{listed}{more}"
            )
        if self._ignored:
            named = [f"{name[:60]!r} ({count:,})" for name, count in self._ignored.most_common(SHOWN_PROBLEMS)]
            unnamed = len(self._ignored) - len(named)
            logging.getLogger(LOGGER).warning(
                "plumbline: fields of %s that are not read, with the number of questions that have them: %s%s",
                ", ".join(self._names),
                ", ".join(named),
                f" and {unnamed} more" if unnamed else "",
            )
        return tuple(self._questions)

    def _file(self, path: Path) -> list[Question]:
        questions: list[Question] = []
        for line in question_rows(path):
            if isinstance(line, Refused):
                self._problems.append(str(line))
                continue
            try:
                question = question_from_fields(line.fields)
            except FieldError as error:
                self._problems.append(f"{line.where}: {error}")
                continue
            if question.id in self._first_used:
                self._problems.append(
                    f"{line.where}: the id {question.id!r} was already used at {self._first_used[question.id]}"
                )
                continue
            self._first_used[question.id] = line.where
            self._ignored.update(ignored_fields(line.fields))
            questions.append(question)
        return questions

    def _beir(self, folder: Path) -> None:
        files = [file for suffix in JSONL_SUFFIXES if (file := folder / f"queries{suffix}").is_file()]
        if not files:
            self._problems.append(f"{shown(folder)}: this folder has no queries.jsonl, so it is not a BEIR folder")
            return
        queries = {question.id: question for question in self._file(files[0])}
        relevant: dict[str, list[str]] = {}
        for judgement in read_judgements(folder / "qrels" / "test.tsv"):
            if isinstance(judgement, Refused):
                self._problems.append(str(judgement))
            elif judgement.query_id not in queries:
                self._problems.append(f"{judgement.where}: the query {judgement.query_id!r} is not in {files[0].name}")
            else:
                documents = relevant.setdefault(judgement.query_id, [])
                if judgement.grade > 0 and judgement.document_id not in documents:
                    documents.append(judgement.document_id)
        self._questions.extend(
            replace(question, relevant_document_ids=tuple(relevant[question.id]))
            for question in queries.values()
            if question.id in relevant
        )
