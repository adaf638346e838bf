"""Baseline files: a run's outcomes by question, its estimates, and the conditions under which they hold."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from data.atomic_write import atomic_write
from data.questions import Question
from evaluation.errors import BaselineError
from evaluation.outcomes import OUTCOMES
from evaluation.runs.run_config import RunConfig
from evaluation.statistics.counts import OutcomeRecord

SCHEMA: Final = 1
_MOST_BYTES: Final = 100_000_000
_TRUSTED: Final = re.compile(r" in ([0-9a-f]{12})(?![0-9a-f])")
Counts = tuple[int, int, int, int]
"""Numbers of responses by outcome, in the order of evaluation.outcomes.OUTCOMES."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Contents of a baseline file.

    run: ID of the run. created: time at which it finished, ISO 8601.
    premises: conditions of the run by name. A comparison requires some to be equal (verifier, questions, ...); others
    may change (model, collection, ...).
    questions: SHA-256 hash of each question's content, by ID. counts: numbers of responses by arm and question ID.
    estimates: estimates by arm and quantity, for readers of the file; they are not compared.
    """

    run: str
    created: str
    premises: Mapping[str, str]
    questions: Mapping[str, str]
    counts: Mapping[str, Mapping[str, Counts]]
    estimates: Mapping[str, Mapping[str, Mapping[str, float | None]]]


def premises_of(config: RunConfig) -> dict[str, str]:
    """Return the premises of a run by name.

    The verifier's name omits the index that it retrieves evidence from. The index changes with every document, so it is
    listed as ``evidence``.
    """
    trusted = _TRUSTED.search(config.verifier)
    return {
        "verifier": _TRUSTED.sub("", config.verifier),
        "evidence": trusted[1] if trusted else "",
        "questions": config.questions_sha256,
        "model": config.generator,
        "collection": config.generation,
        "encoder": config.encoder,
        "samples": str(config.samples),
        "decoding": config.decoding.label,
        "version": config.version,
    }


def question_hash(question: Question) -> str:
    """Return the SHA-256 hash (hex) of a question and its accepted answers."""
    content = [question.text, sorted(question.references), question.answerable]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def outcome_counts(records: Sequence[OutcomeRecord]) -> dict[str, dict[str, Counts]]:
    """Count responses by arm, question and outcome."""
    found: dict[str, dict[str, list[int]]] = {}
    for record in records:
        row = found.setdefault(record.arm, {}).setdefault(record.question_id, [0, 0, 0, 0])
        row[OUTCOMES.index(record.outcome)] += 1
    return {arm: {q: (r[0], r[1], r[2], r[3]) for q, r in rows.items()} for arm, rows in found.items()}


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file atomically. Raises OSError."""
    document = {
        "plumbline_baseline": SCHEMA,
        "run": baseline.run,
        "created": baseline.created,
        "premises": dict(baseline.premises),
        "estimates": baseline.estimates,
        "questions": dict(sorted(baseline.questions.items())),
        "counts": {arm: {q: list(c) for q, c in sorted(rows.items())} for arm, rows in baseline.counts.items()},
    }
    with atomic_write(path) as part:
        part.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises BaselineError for a missing or invalid file, another schema, or missing fields."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BaselineError(
                f"{path} is larger than {_MOST_BYTES} bytes and therefore not a baseline: write one from a run"
            )
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BaselineError(f"there is no baseline {path}: write one from a run") from error
    except (OSError, ValueError, RecursionError) as error:
        raise BaselineError(f"{path} cannot be read as a baseline ({error}): write it again") from error
    schema = document.get("plumbline_baseline") if isinstance(document, dict) else None
    if schema is None:
        raise BaselineError(f"{path} is not a baseline: write one from a run")
    if schema != SCHEMA:
        raise BaselineError(f"{path} is a baseline of schema {schema!r}, this version reads {SCHEMA}: write it again")
    try:
        return _baseline(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BaselineError(f"{path} is a damaged baseline ({error!r}): write it again") from error


def as_records(counts: Mapping[str, Counts], arm: str) -> list[OutcomeRecord]:
    """Expand counts to single responses."""
    return [
        OutcomeRecord(question, arm, number, OUTCOMES[outcome])
        for question, row in counts.items()
        for number, outcome in enumerate(o for o, times in enumerate(row) for _ in range(times))
    ]


def _baseline(document: dict[str, Any]) -> Baseline:
    counts = {
        str(arm): {str(question): _counts(row) for question, row in rows.items()}
        for arm, rows in document["counts"].items()
    }
    if not counts or not all(counts.values()):
        raise ValueError("it holds no answers")
    return Baseline(
        str(document["run"]),
        str(document["created"]),
        {str(name): str(value) for name, value in document["premises"].items()},
        {str(name): str(value) for name, value in document["questions"].items()},
        counts,
        dict(document["estimates"]),
    )


def _counts(row: object) -> Counts:
    if not isinstance(row, list) or len(row) != len(OUTCOMES) or not all(type(n) is int and n >= 0 for n in row):
        raise ValueError(f"counts {row!r}: four non-negative whole numbers are needed")
    if not sum(row):
        raise ValueError("a question without a response")
    return (row[0], row[1], row[2], row[3])


def iso(moment: datetime) -> str:
    """Format a time as ISO 8601 to the second."""
    return moment.isoformat(timespec="seconds")
