"""Rows that teach or test a reader: a question, a passage and the answers in it; a question and its answers alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data.compressed import numbered_lines
from data.errors import DataError


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """context: the passage, empty for a question to answer without one. answers: empty exactly when unanswerable."""

    question: str
    answers: tuple[str, ...]
    context: str = ""
    title: str = ""
    answerable: bool = True
    source: str = ""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("the question is empty")
        if bool(self.answers) != self.answerable:
            raise ValueError("answers must be there exactly when the question is answerable")

    @property
    def group(self) -> str:
        """What must stay on one side of a split: the article, or the passage where no title is given."""
        return f"{self.source}:{self.title or self.context or self.question}"


@dataclass(frozen=True, slots=True)
class ReadingFile:
    """What was read: the examples, and "file:line: reason" of each line left out by ``skip_bad``."""

    examples: tuple[ReadingExample, ...]
    skipped: tuple[str, ...]


def load_reading(paths: Sequence[Path], *, skip_bad: bool = False, limit: int | None = None) -> ReadingFile:
    """Read JSONL files (.jsonl, .jsonl.bz2, .jsonl.gz) of {question, answers, context?, title?, answerable?, source?}.

    Raises DataError naming file and line at the first bad one (``skip_bad`` lists them instead), for a missing file and
    when nothing is left. limit: at most this many examples a file.
    """
    examples: list[ReadingExample] = []
    skipped: list[str] = []
    for path in paths:
        count = 0
        for number, line in numbered_lines(path, "questions, passages and answers"):
            if limit is not None and count >= limit:
                break
            try:
                examples.append(_example(json.loads(line), path))
                count += 1
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                where = f"{path}:{number}: {error if str(error) else 'not a reading example'}"
                if not skip_bad:
                    raise DataError(f"{where}; mend the line or skip such lines with --skip-bad") from error
                skipped.append(where)
    if not examples:
        raise DataError(f"no example in {', '.join(map(str, paths)) or 'no file'}: nothing to train on or to evaluate")
    return ReadingFile(tuple(examples), tuple(skipped))


def _example(value: object, path: Path) -> ReadingExample:
    if not isinstance(value, dict):
        raise ValueError("a line must be a JSON object")
    texts = {}
    for name in ("question", "context", "title", "source", "relation"):
        texts[name] = value.get(name, "")
        if not isinstance(texts[name], str):
            raise ValueError(f"{name} must be text, not {type(texts[name]).__name__}")
    answers = value.get("answers", [])
    if not isinstance(answers, list) or any(not isinstance(a, str) for a in answers):
        raise ValueError("answers must be a list of texts")
    answerable = value.get("answerable", True)
    if not isinstance(answerable, bool):
        raise ValueError("answerable must be true or false")
    return ReadingExample(
        question=texts["question"],
        answers=tuple(a for a in answers if a.strip()),
        context=texts["context"],
        title=texts["title"],
        answerable=answerable,
        source=texts["source"] or texts["relation"] or path.name.split(".")[0],
    )
