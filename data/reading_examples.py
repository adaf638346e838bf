"""Load training and test examples for a reader: a question with its answers, with or without a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from data.compressed import numbered_lines
from data.errors import DataError
from data.excerpts import Excerpt, excerpt_texts, read_excerpt
from data.json_text import parse_json


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """A question with its answers and a passage.

    answers: correct answers; empty if and only if the question is not answerable. context: the passage; "" for a
    question without one. title: title of the passage's article. source: name of the data set. wrong: plausible wrong
    answers from the passage, if the data set has them.
    """

    question: str
    answers: tuple[str, ...]
    context: str = ""
    title: str = ""
    answerable: bool = True
    source: str = ""
    wrong: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("the question is empty")
        if bool(self.answers) != self.answerable:
            raise ValueError("an answerable question must have answers, and an unanswerable one must have none")

    @property
    def group(self) -> str:
        """The unit that a split must not divide: the article, or the passage if there is no title."""
        return f"{self.source}:{self.title or self.context or self.question}"


@dataclass(frozen=True, slots=True)
class ReadingFile:
    """The examples that were read. skipped: "file:line: reason" of each line that ``skip_bad`` left out."""

    examples: tuple[ReadingExample, ...]
    skipped: tuple[str, ...]


def load_reading(
    paths: Sequence[Path], *, skip_bad: bool = False, limit: int | None = None, texts: Sequence[Path] = ()
) -> ReadingFile:
    """Read JSONL files (.jsonl, .jsonl.bz2, .jsonl.gz) of {question, answers, context?, title?, answerable?, source?}.

    In place of context and title, a line may have an excerpt {document, start, end, sha256}: a span of a document in
    ``texts``. An excerpt of a document that is not in ``texts`` makes the line bad.

    skip_bad: whether to leave out bad lines and list them. limit: maximum number of examples per file; None for all.
    Raises DataError, which names file and line, at the first bad line (unless ``skip_bad``), for a missing file, for a
    document that has changed, and if there is no example.
    """
    read: list[_Line] = []
    skipped: list[str] = []
    for path in paths:
        count = 0
        for number, line in numbered_lines(path, "questions, passages and answers"):
            if limit is not None and count >= limit:
                break
            try:
                value = parse_json(line)
                excerpt = _excerpt(value)
                read.append(_Line(_example(value, path), excerpt, f"{path}:{number}"))
                count += 1
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                where = f"{path}:{number}: {error if str(error) else 'not a reading example'}"
                if not skip_bad:
                    raise DataError(f"{where}; fix the line, or skip such lines", parameter="skip_bad") from error
                skipped.append(where)
    passages = excerpt_texts({line.excerpt for line in read if line.excerpt}, texts)
    examples: list[ReadingExample] = []
    for one in read:
        if one.excerpt is None:
            examples.append(one.example)
        elif one.excerpt in passages.found:
            title, text = passages.found[one.excerpt]
            examples.append(replace(one.example, context=text, title=title))
        else:
            where = (
                f"{one.where}: its passage is {one.excerpt.name}, which is in none of the given documents"
                f"{passages.missing_note}"
            )
            if not skip_bad:
                raise DataError(f"{where}; give the file that contains it, or skip such lines", parameter="texts")
            skipped.append(where)
    if not examples:
        raise DataError(f"no example in {', '.join(map(str, paths)) or 'no file'}: nothing to train on or to evaluate")
    return ReadingFile(tuple(examples), tuple(skipped))


@dataclass(frozen=True, slots=True)
class _Line:
    """A parsed line. where: ``file:line``."""

    example: ReadingExample
    excerpt: Excerpt | None
    where: str


def _excerpt(value: object) -> Excerpt | None:
    if not isinstance(value, dict) or "excerpt" not in value:
        return None
    if value.get("context"):
        raise ValueError("a line must not have both a context and an excerpt")
    return read_excerpt(value["excerpt"])


def _texts_of(value: dict[str, object], name: str) -> tuple[str, ...]:
    found = value.get(name, [])
    if not isinstance(found, list) or any(not isinstance(text, str) for text in found):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(text for text in found if text.strip())


def _example(value: object, path: Path) -> ReadingExample:
    if not isinstance(value, dict):
        raise ValueError("a line must be a JSON object")
    texts = {}
    for name in ("question", "context", "title", "source", "relation"):
        texts[name] = value.get(name, "")
        if not isinstance(texts[name], str):
            raise ValueError(f"{name} must be text, not {type(texts[name]).__name__}")
    answerable = value.get("answerable", True)
    if not isinstance(answerable, bool):
        raise ValueError("answerable must be true or false")
    return ReadingExample(
        question=texts["question"],
        answers=_texts_of(value, "answers"),
        context=texts["context"],
        title=texts["title"],
        answerable=answerable,
        source=texts["source"] or texts["relation"] or path.name.split(".")[0],
        wrong=_texts_of(value, "wrong"),
    )
