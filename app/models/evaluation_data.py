"""Read the examples of a file for the evaluation of a model. The layout is detected from the content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from app.errors import UsageError
from data.compressed import numbered_lines
from data.errors import DataError
from data.pairs import PairExample, load_pairs
from data.ragtruth import RagResponse, find_ragtruth, load_ragtruth
from data.reading_examples import ReadingExample, load_reading
from data.squad import load_squad

Format = Literal["pairs", "reading", "squad", "ragtruth"]
FORMATS: tuple[Format, ...] = ("pairs", "reading", "squad", "ragtruth")
_DETECTION_LINES = 50  # number of lines that are read to detect the layout, because the first ones may be damaged
_LAYOUTS = (
    "pairs (JSONL of evidence, claim, supported), reading (JSONL of question, context, answers, answerable), squad "
    "(SQuAD's JSON), ragtruth (a folder with response.jsonl and source_info.jsonl, or that response.jsonl)"
)


@dataclass(frozen=True, slots=True)
class DataRequest:
    """A file of examples, and which of them to read.

    format: layout; None detects it. split: split of a RAGTruth file; None for all. limit: maximum number of examples;
    None for all. skip_bad: whether to skip invalid lines. texts: documents for the excerpts in questions
    (data.excerpts).
    """

    path: Path
    format: Format | None = None
    split: str | None = None
    limit: int | None = None
    skip_bad: bool = False
    texts: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationData:
    """The examples of a file, all of one kind.

    skipped: invalid lines, blank: pairs without claim or evidence, both as "file:line: reason". split: the selected
    split, or "all". notes: remarks for the user.
    """

    format: Format
    pairs: tuple[PairExample, ...] = ()
    responses: tuple[RagResponse, ...] = ()
    reading: tuple[ReadingExample, ...] = ()
    skipped: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    split: str = "all"
    notes: tuple[str, ...] = ()


def file_format(path: Path) -> Format:
    """Detect the layout of a file or folder. Raises DataError that lists the layouts if it is unknown."""
    if path.is_dir():
        if find_ragtruth(path) is None:
            raise DataError(
                f"{path} is a folder without response.jsonl and source_info.jsonl: give a file, or {_LAYOUTS}"
            )
        return "ragtruth"
    is_json = False
    lines = 0
    for _, line in islice(numbered_lines(path, "examples to evaluate on"), _DETECTION_LINES):
        lines += 1
        is_json = is_json or '"paragraphs"' in line or '"data"' in line
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if found := _layout(value):
            return found
    if not lines:
        raise DataError(f"{path} is empty: nothing to evaluate on")
    if is_json:
        return "squad"
    raise DataError(f"{path} has an unknown layout; the known ones are {_LAYOUTS}; --format NAME forces one")


def load_evaluation(request: DataRequest, layout: Format) -> EvaluationData:
    """Read a file in the given layout.

    Raises UsageError for a split or texts that the layout does not support, and the DataErrors of the loaders.
    """
    path, limit, skip_bad = request.path, request.limit, request.skip_bad
    if request.split is not None and layout != "ragtruth":
        raise UsageError(f"--split {request.split}: only files in RAGTruth's layout have splits, {path} is {layout}")
    if request.texts and layout != "reading":
        raise UsageError(f"--texts: only questions can refer to passages by excerpt, {path} is {layout}")
    if layout == "pairs":
        return _pairs(path, limit, skip_bad)
    if layout == "ragtruth":
        read = load_ragtruth(path, split=request.split, skip_bad=skip_bad, limit=limit)
        trimmed = (f"{read.trimmed} responses have a span beyond their end; it was truncated",)
        return EvaluationData(
            layout,
            responses=read.responses,
            skipped=read.skipped,
            split=read.split,
            notes=trimmed if read.trimmed else (),
        )
    examples = (
        load_squad(path, skip_bad=skip_bad, limit=limit)
        if layout == "squad"
        else load_reading([path], skip_bad=skip_bad, limit=limit, texts=request.texts)
    )
    return EvaluationData(layout, reading=examples.examples, skipped=examples.skipped)


def _layout(value: object) -> Format | None:
    if not isinstance(value, dict):
        return None
    keys = value.keys()
    if "evidence" in keys and ("claim" in keys or "supported" in keys):
        return "pairs"
    if {"response", "source_id"} <= keys:
        return "ragtruth"
    if isinstance(value.get("data"), list):
        return "squad"
    if "question" in keys and ("answers" in keys or "answerable" in keys):
        return "reading"
    return None


def _pairs(path: Path, limit: int | None, skip_bad: bool) -> EvaluationData:
    """Read pairs. A pair with an empty claim or evidence is counted as unscored, not as an invalid line."""
    blank = _blank_lines(path)
    read = load_pairs([path], skip_bad=skip_bad or bool(blank), limit=limit)
    empty = tuple(where for where in read.skipped if where.startswith(tuple(f"{path}:{n}: " for n in blank)))
    bad = tuple(where for where in read.skipped if where not in empty)
    if bad and not skip_bad:
        raise DataError(f"{bad[0]}; fix the line or skip such lines with --skip-bad")
    return EvaluationData("pairs", pairs=read.examples, skipped=bad, blank=empty)


def _blank_lines(path: Path) -> Sequence[int]:
    """Return the numbers of the lines that are valid pairs except for a blank claim or evidence."""
    found: list[int] = []
    for number, line in numbered_lines(path, "evidence, claims and whether they are supported"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or not isinstance(value.get("supported"), bool):
            continue
        texts = (value.get("claim"), value.get("evidence"))
        if all(isinstance(t, str) for t in texts) and any(isinstance(t, str) and not t.strip() for t in texts):
            found.append(number)
    return found
