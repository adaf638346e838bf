"""Read files in RAGTruth's layout: responses with marked hallucinated spans, and their sources.

response.jsonl: {id, source_id, model, labels: [{start, end, ...}], split, response}; source_info.jsonl: {source_id,
task_type, source_info}, where source_info is a text, {question, passages}, or a record to verbalise (Niu et al. 2024,
"RAGTruth: A Hallucination Corpus for Developing Trustworthy Retrieval-Augmented Language Models").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.compressed import numbered_lines
from data.errors import DataError
from data.json_text import parse_json

_SUFFIXES = ("", ".bz2", ".gz")


@dataclass(frozen=True, slots=True)
class RagResponse:
    """A response and its source.

    evidence: text of the source, or a record as JSON. question: "" for tasks without one. text: the response; may be
    empty. hallucinated: whether annotators marked anything. spans: hallucinated spans as (start, end), in characters of
    the text.
    """

    id: str
    source_id: str
    task: str
    model: str
    evidence: str
    question: str
    text: str
    hallucinated: bool
    spans: tuple[tuple[int, int], ...]
    split: str


@dataclass(frozen=True, slots=True)
class RagTruthFile:
    """The responses that were read.

    skipped: "file:line: reason" of lines that ``skip_bad`` left out. split: the split that was read, or "all". trimmed:
    number of responses with a span that went beyond their end and was truncated.
    """

    responses: tuple[RagResponse, ...]
    skipped: tuple[str, ...]
    split: str
    trimmed: int


@dataclass(frozen=True, slots=True)
class _Source:
    task: str
    evidence: str
    question: str


def find_ragtruth(path: Path) -> tuple[Path, Path] | None:
    """Return the paths of the responses and the sources for a folder or a file of responses; None if one is missing.

    A folder may have the files in ``dataset``, as in the published repository. Both may be compressed (.bz2, .gz). A
    file of responses may have any name; its sources are in ``source_info.jsonl`` in the same folder.
    """
    if path.is_dir():
        for folder in (path, path / "dataset"):
            responses, sources = _either(folder, "response.jsonl"), _either(folder, "source_info.jsonl")
            if responses and sources:
                return responses, sources
        return None
    found = _either(path.parent, "source_info.jsonl")
    return (path, found) if found is not None and found != path else None


def load_ragtruth(
    path: Path, *, split: str | None = None, skip_bad: bool = False, limit: int | None = None
) -> RagTruthFile:
    """Read a folder, or a file of responses with ``source_info.jsonl`` in the same folder.

    split: split to read, or "all"; None means "test" if any response has it, else "all". skip_bad: whether to leave out
    bad lines and list them. limit: maximum number of responses; None for all. Raises DataError, which names file and
    line, at the first bad line (unless ``skip_bad``), for missing files, and if there is no response in the split.
    """
    files = find_ragtruth(path)
    if files is None:
        raise DataError(f"{path} does not have RAGTruth's layout: response.jsonl and source_info.jsonl in one folder")
    skipped: list[str] = []
    sources = _sources(files[1], skip_bad, skipped)
    read: list[tuple[RagResponse, bool]] = []
    for number, line in numbered_lines(files[0], "responses in RAGTruth's layout"):
        try:
            read.append(_response(parse_json(line), sources))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            _bad(files[0], number, error, skip_bad, skipped)
    splits = sorted({response.split for response, _ in read})
    chosen = split or ("test" if "test" in splits else "all")
    kept = [pair for pair in read if chosen in ("all", pair[0].split)][:limit]
    if read and not kept:
        raise DataError(f"no response of {files[0]} is in the split {chosen!r}: choose {', '.join(splits)} or all")
    if not kept:
        raise DataError(f"no response in {files[0]}: nothing to evaluate")
    return RagTruthFile(tuple(r for r, _ in kept), tuple(skipped), chosen, sum(cut for _, cut in kept))


def _either(folder: Path, name: str) -> Path | None:
    return next((folder / (name + end) for end in _SUFFIXES if (folder / (name + end)).is_file()), None)


def _bad(path: Path, number: int, error: Exception, skip_bad: bool, skipped: list[str]) -> None:
    reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
    where = f"{path}:{number}: {reason or 'not a line in the layout of RAGTruth'}"
    if not skip_bad:
        raise DataError(f"{where}; fix the line, or skip such lines", parameter="skip_bad") from error
    skipped.append(where)


def _sources(path: Path, skip_bad: bool, skipped: list[str]) -> dict[str, _Source]:
    sources: dict[str, _Source] = {}
    for number, line in numbered_lines(path, "sources in RAGTruth's layout"):
        try:
            value = parse_json(line)
            if not isinstance(value, dict):
                raise ValueError("a line must be a JSON object")
            sources[_text(value, "source_id")] = _source(value)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            _bad(path, number, error, skip_bad, skipped)
    return sources


def _source(value: Mapping[str, object]) -> _Source:
    task, info = _text(value, "task_type"), value["source_info"]
    if isinstance(info, str):
        return _Source(task, info, "")
    if not isinstance(info, dict):
        raise ValueError(f"source_info must be text or an object, not {type(info).__name__}")
    passages, question = info.get("passages"), info.get("question", "")
    if isinstance(passages, str) and isinstance(question, str):
        return _Source(task, passages, question)
    return _Source(task, json.dumps(info, ensure_ascii=False), "")


def _response(value: object, sources: Mapping[str, _Source]) -> tuple[RagResponse, bool]:
    """Return the response, and whether one of its spans was truncated."""
    if not isinstance(value, dict):
        raise ValueError("a line must be a JSON object")
    source_id, text = _text(value, "source_id"), value["response"]
    if not isinstance(text, str):
        raise ValueError(f"response must be text, not {type(text).__name__}")
    if source_id not in sources:
        raise ValueError(f"source_id {source_id!r} is not in source_info.jsonl")
    labels = value["labels"]
    if not isinstance(labels, list):
        raise ValueError(f"labels must be a list, not {type(labels).__name__}")
    marked = [_span(label) for label in labels]
    spans = [(start, min(end, len(text))) for start, end in marked if start < min(end, len(text))]
    source = sources[source_id]
    response = RagResponse(
        id=_text(value, "id"),
        source_id=source_id,
        task=source.task,
        model=_text(value, "model", ""),
        evidence=source.evidence,
        question=source.question,
        text=text,
        hallucinated=bool(marked),
        spans=tuple(sorted(spans)),
        split=_text(value, "split", ""),
    )
    return response, any(end > len(text) for _, end in marked)


def _span(label: object) -> tuple[int, int]:
    if not isinstance(label, dict):
        raise ValueError("a label must be an object with start and end")
    start, end = label["start"], label["end"]
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        raise ValueError(f"a label is from {start!r} to {end!r}: it must be character offsets of the response")
    return start, end


def _text(value: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return a field as text; it may also be an integer. default: value of a missing field; None if it is required."""
    found = value[name] if default is None else value.get(name, default)
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise ValueError(f"{name} must be text, not {type(found).__name__}")
    return str(found)
