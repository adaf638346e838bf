"""Input of every export: a run's questions and samples; and atomic writing of files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.runs.records import SampleRecord


@dataclass(frozen=True, slots=True)
class ExportRun:
    """A stored run. created: ISO 8601. model, verifier: names. command: command line that repeats the run."""

    id: str
    name: str
    created: str
    model: str
    verifier: str
    command: str
    questions: tuple[Question, ...]
    samples: tuple[SampleRecord, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """Arms with samples, in the order of the run."""
        return tuple(dict.fromkeys(s.arm for s in self.samples))

    def answered(self) -> Iterator[tuple[Question, SampleRecord]]:
        """Yield every sample with its question, in order."""
        by_id = {q.id: q for q in self.questions}
        for sample in self.samples:
            yield by_id[sample.question_id], sample


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export.

    rows: number of rows written. left_out: number of samples that the format cannot hold. reason: why they were left
    out.
    """

    rows: int
    left_out: int = 0
    reason: str = ""


def text_of(sample: SampleRecord) -> str:
    """Return the text of the completion; empty if nothing was generated."""
    return sample.completion.text if sample.completion else ""


def contexts_of(sample: SampleRecord) -> list[str]:
    """Return the texts shown in the prompt, in order."""
    return [chunk.text for chunk in sample.chunks]


def unsupported_spans(sample: SampleRecord) -> list[dict[str, Any]]:
    """Return the spans of the claims that are contradicted or unverifiable."""
    return [
        {"start": v.claim.start, "end": v.claim.end, "text": v.claim.text, "label": v.label}
        for v in sample.evaluation.verdicts
        if v.label in ("contradicted", "unverifiable")
    ]


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write one object per line and return their number. Raises EvaluationError with the path."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for row in rows:
            count += 1
            yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"

    write_lines(path, lines())
    return count


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file atomically. Raises EvaluationError with the path."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise EvaluationError(f"cannot write {path}: {error.strerror}. Free space, or name another file") from error


def select_arms(run: ExportRun, arms: Sequence[str]) -> ExportRun:
    """Return the run with these arms only; all arms if none is named. Raises EvaluationError for an unknown arm."""
    unknown = [arm for arm in arms if arm not in run.arms]
    if unknown:
        raise EvaluationError(f"run {run.id} has no arm {unknown[0]!r}: it has {', '.join(run.arms)}")
    if not arms:
        return run
    kept = tuple(s for s in run.samples if s.arm in arms)
    return ExportRun(run.id, run.name, run.created, run.model, run.verifier, run.command, run.questions, kept)
