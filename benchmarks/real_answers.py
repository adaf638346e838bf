"""Accuracy of the default judge on a real model's answers: data/samples/real_answers compared with its labels.

    python -m benchmarks.real_answers                      # judge the answers, print the table
    python -m benchmarks.real_answers --half b             # only the half that was never used for tuning
    python -m benchmarks.real_answers --write rows.jsonl   # the records for `plumbline score rows.jsonl --answers FILE`
    python -m benchmarks.real_answers --read FILE          # the table of existing verdicts, such as of another version

Labels are hallucinated or not; supported, unresponsive and abstained are "not". Balanced accuracy is the mean of the
share of hallucinated answers that are flagged and the share of others that are not. Intervals: Clopper and Pearson
1934, 95 %, which treat the answers to one question as independent. Unscored answers count as "not hallucinated", and
are reported. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scipy.stats import beta

from data.document_loader import load_documents
from data.documents import Document
from data.samples_paths import sample_corpus_path

ANSWERS = sample_corpus_path().parent / "real_answers" / "answers.jsonl"


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a group of answers. missed: number of hallucinated answers that are not flagged. alarms: number of
    other answers that are flagged.
    """

    n: int
    hallucinated: int
    missed: int
    alarms: int
    unscored: int

    @property
    def balanced_accuracy(self) -> float | None:
        """The balanced accuracy; None if one of the two classes is empty."""
        others = self.n - self.hallucinated
        if not self.hallucinated or not others:
            return None
        return 1 - (self.missed / self.hallucinated + self.alarms / others) / 2


def answers() -> list[dict[str, Any]]:
    """Return the labelled answers."""
    return [json.loads(line) for line in ANSWERS.read_text("utf-8").splitlines()]


def records(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return the input of `plumbline score`: each answer with the documents that answer its question or come
    closest.
    """
    corpus = {d.id: d.text for d in load_documents([sample_corpus_path()]) if isinstance(d, Document)}
    return [
        {
            "id": row["id"],
            "question": row["question"],
            "answer": row["answer"],
            "references": row["references"],
            "answerable": row["answerable"],
            "contexts": [corpus[document] for document in row["relevant_document_ids"]],
            "arm": row["arm"],
            "group": row["question"],
        }
        for row in rows
    ]


def figures(rows: Sequence[Mapping[str, Any]], outcomes: Mapping[str, str]) -> Figures:
    """Compare labels with outcomes. Raises KeyError for an answer without an outcome."""
    wrong = [row for row in rows if row["label"] == "hallucinated"]
    others = [row for row in rows if row["label"] != "hallucinated"]
    return Figures(
        n=len(rows),
        hallucinated=len(wrong),
        missed=sum(outcomes[row["id"]] != "hallucinated" for row in wrong),
        alarms=sum(outcomes[row["id"]] == "hallucinated" for row in others),
        unscored=sum(outcomes[row["id"]] == "unscored" for row in rows),
    )


def interval(events: int, n: int) -> str:
    """Return a share with its interval, in per cent."""
    if not n:
        return "-"
    lower = beta.ppf(0.025, events, n - events + 1) if events else 0.0
    upper = beta.ppf(0.975, events + 1, n - events) if events < n else 1.0
    return f"{100 * events / n:.1f} % [{100 * lower:.1f}, {100 * upper:.1f}]"


def judged(rows: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """Run `plumbline score` with its defaults and return the file of verdicts."""
    rows_file, verdicts = folder / "rows.jsonl", folder / "out.jsonl"
    write(rows_file, rows)
    command = [sys.executable, "-m", "app.cli", "score", str(rows_file), "--answers", str(verdicts)]
    code = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if code not in (0, 4):  # 4: some are unscored
        sys.exit(f"plumbline score ended with {code}: see its message above")
    return verdicts


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the records as JSON Lines."""
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records(rows)), "utf-8")


def main() -> None:
    """Judge, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("a", "b"))
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--errors", action="store_true", help="also print every answer judged differently")
    arguments = parser.parse_args()
    rows = [row for row in answers() if arguments.half in (None, row["half"])]
    if arguments.write:
        write(arguments.write, rows)
        return
    with TemporaryDirectory() as folder:
        path = arguments.read or judged(rows, Path(folder))
        outcomes = {str(r["id"]): r["outcome"] for r in map(json.loads, path.read_text("utf-8").splitlines())}
    groups = {"all": rows} | {
        f"{field} {value}": [row for row in rows if row[field] == value]
        for field in ("half", "arm", "source", "prompt", "kind")
        for value in dict.fromkeys(row[field] for row in rows)
    }
    print("| answers | n | hallucinated (labels) | missed | false alarms | unscored | balanced accuracy |")
    print("|---|---|---|---|---|---|---|")
    for name, group in groups.items():
        f = figures(group, outcomes)
        accuracy = "-" if f.balanced_accuracy is None else f"{f.balanced_accuracy:.3f}"
        print(
            f"| {name} | {f.n} | {f.hallucinated} | {interval(f.missed, f.hallucinated)} | "
            f"{interval(f.alarms, f.n - f.hallucinated)} | {f.unscored} | {accuracy} |"
        )
    if arguments.errors:
        for row in rows:
            if (outcomes[row["id"]] == "hallucinated") != (row["label"] == "hallucinated"):
                print(f"{row['id']} {row['label']} ({row['error']}), judged {outcomes[row['id']]}: {row['answer']!r}")
    total = figures(rows, outcomes)
    print(json.dumps(asdict(total) | {"balanced_accuracy": total.balanced_accuracy}))


if __name__ == "__main__":
    main()
