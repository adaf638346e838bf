"""Import questions from logs: remove personal data, group near-duplicates, and write one file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import AppError
from data.atomic_write import atomic_write
from data.blank import is_blank
from data.question_logs.personal_data import without_personal_data
from data.question_logs.reading import read_log
from evaluation.question_sets.duplicates import duplicate_groups
from retrieval.encoding.encoder import Encoder

_LONGEST: Final = 2000
TOO_LONG: Final = f"it is longer than {_LONGEST} characters"
NO_WORDS: Final = "it has no words"


@dataclass(frozen=True, slots=True)
class DroppedData:
    """Personal data that was removed. kind: e-mail, phone or card. where: location of the record."""

    kind: str
    where: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import.

    records: number of records read. questions: number of questions written, one per group. grouped: number of further
    questions in these groups. refused: number of refused records by reason. dropped: kind and location of removed
    personal data.
    """

    records: int
    questions: int
    grouped: int
    refused: dict[str, int]
    dropped: tuple[DroppedData, ...]


def import_questions(paths: Sequence[Path], output: Path, encoder: Encoder, column: str | None = None) -> ImportReport:
    """Read logs and write a question file. The first question of a group is written, with the others as its variants.

    encoder: encoder that finds near-duplicates. column: name of the log's question column; None detects it. Raises the
    DataError of read_log, and AppError if no question remains.
    """
    records, refused = 0, Counter[str]()
    dropped: list[DroppedData] = []
    kept: list[tuple[str, str]] = []
    for path in paths:
        for logged in read_log(path, column):
            records += 1
            reason = logged.reason or _reason(logged.text)
            if reason:
                refused[reason] += 1
                continue
            text, found = without_personal_data(" ".join(logged.text.split()))
            dropped += [DroppedData(one.kind, logged.where) for one in found]
            kept.append((text, logged.where))
    if not kept:
        reasons = (
            "; ".join(f"{count} because {reason}" for reason, count in refused.most_common()) or "it has no record"
        )
        raise AppError(f"no question was found in {', '.join(map(str, paths))}: {reasons}")
    unique = list(dict.fromkeys(text for text, _ in kept))
    times = Counter(text for text, _ in kept)
    locations = dict(reversed(kept))
    groups = duplicate_groups(unique, encoder)
    with atomic_write(output) as part:
        lines = (_line(number, [unique[i] for i in group], times, locations) for number, group in enumerate(groups, 1))
        part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return ImportReport(records, len(groups), len(kept) - len(groups), dict(refused.most_common()), tuple(dropped))


def _line(number: int, texts: Sequence[str], times: Counter[str], locations: dict[str, str]) -> str:
    first = texts[0]
    row = {
        "id": f"log-{number:04d}",
        "text": first,
        "kind": "asked",
        "provenance": {"writer": "user", "from": locations[first], "times": sum(times[text] for text in texts)},
    }
    return json.dumps(row | ({"variants": list(texts[1:])} if len(texts) > 1 else {}), ensure_ascii=False)


def _reason(text: str) -> str:
    if len(text) > _LONGEST:
        return TOO_LONG
    return NO_WORDS if is_blank(text) or sum(c.isalpha() for c in text) < 2 else ""
