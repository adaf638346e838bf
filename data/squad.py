"""Read SQuAD files (v1.1 and v2.0) as reading examples."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from data.compressed import numbered_lines
from data.errors import DataError
from data.json_text import parse_json
from data.reading_examples import ReadingExample, ReadingFile

_DETECTION_LINES = 50
"""Number of lines used to detect the layout. There are several, because the first ones may be damaged."""


def load_squad(path: Path, *, skip_bad: bool = False, limit: int | None = None) -> ReadingFile:
    """Read {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers", "is_impossible"}]}]}]}.

    The source is the file's name without suffixes. Equal answers of several annotators are kept once. skip_bad: whether
    to leave out bad questions and list them. limit: maximum number of examples; None for all. Raises DataError for a
    missing or damaged file, at the first bad question (unless ``skip_bad``), and if there is no question.
    """
    examples: list[ReadingExample] = []
    skipped: list[str] = []
    source = path.name.split(".")[0]
    for where, title, context, value in _questions(_document(path), path):
        if limit is not None and len(examples) >= limit:
            break
        try:
            examples.append(_example(value, title, context, source))
        except (ValueError, KeyError, TypeError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            if not skip_bad:
                raise DataError(
                    f"{where}: {reason}; fix the question, or skip such questions", parameter="skip_bad"
                ) from error
            skipped.append(f"{where}: {reason}")
    if not examples:
        raise DataError(f"no question in {path}: nothing to evaluate")
    return ReadingFile(tuple(examples), tuple(skipped))


def is_squad(path: Path) -> bool:
    """Return whether the first lines of a file look like a JSON document in SQuAD's layout.

    Raises DataError if the file is unreadable.
    """
    is_squad = False
    for _, line in islice(numbered_lines(path, "questions, passages and answers"), _DETECTION_LINES):
        try:
            value = parse_json(line)
        except (ValueError, RecursionError):
            is_squad = is_squad or '"paragraphs"' in line or '"data"' in line
            continue
        if isinstance(value, dict):
            return isinstance(value.get("data"), list) and "question" not in value
    return is_squad


def _document(path: Path) -> list[Any]:
    text = "".join(line for _, line in numbered_lines(path, "questions in SQuAD's layout"))
    try:
        value = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not one JSON document in SQuAD's layout: {error}") from error
    articles = value.get("data") if isinstance(value, dict) else None
    if not isinstance(articles, list):
        raise DataError(f"{path} has no list of articles under 'data': it is not in SQuAD's layout")
    return articles


def _questions(articles: list[Any], path: Path) -> list[tuple[str, object, object, object]]:
    """Return (location, title, context, question) of every question. Raises DataError if the nesting is invalid."""
    found: list[tuple[str, object, object, object]] = []
    for a, article in enumerate(articles):
        at = f"{path}: data[{a}]"
        for p, paragraph in enumerate(_list(article, "paragraphs", at)):
            inside = f"{at}.paragraphs[{p}]"
            for q, question in enumerate(_list(paragraph, "qas", inside)):
                where = f"{inside}.qas[{q}]"
                if isinstance(question, dict) and "id" in question:
                    where += f" (id {question['id']})"
                found.append((where, article.get("title", ""), paragraph.get("context"), question))
    return found


def _list(value: object, name: str, where: str) -> list[Any]:
    inner = value.get(name) if isinstance(value, dict) else None
    if not isinstance(inner, list):
        raise DataError(f"{where} has no list '{name}': the file is not in SQuAD's layout")
    return inner


def _example(value: object, title: object, context: object, source: str) -> ReadingExample:
    if not isinstance(value, dict):
        raise ValueError("a question must be a JSON object")
    question, impossible, answers = value["question"], value.get("is_impossible", False), value.get("answers", [])
    for name, text in (("question", question), ("context", context), ("title", title)):
        if not isinstance(text, str):
            raise ValueError(f"{name} must be text, not {type(text).__name__}")
    if not isinstance(impossible, bool):
        raise ValueError(f"is_impossible is {impossible!r}: it must be true or false")
    if not isinstance(answers, list) or any(
        not isinstance(a, dict) or not isinstance(a.get("text"), str) for a in answers
    ):
        raise ValueError("answers must be a list of objects with a text")
    texts = () if impossible else tuple(dict.fromkeys(a["text"] for a in answers if a["text"].strip()))
    return ReadingExample(
        question=str(question),
        answers=texts,
        context=str(context),
        title=str(title),
        answerable=not impossible,
        source=source,
    )
