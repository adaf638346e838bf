"""The labelled answers of a real model: fields, labels, and the table of their data card."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

from data.document_loader import load_documents
from data.documents import Document
from data.samples_paths import sample_corpus_path

FOLDER = sample_corpus_path().parent / "real_answers"
LABELS = ("supported", "unresponsive", "hallucinated", "abstained")


@cache
def rows() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for line in (FOLDER / "answers.jsonl").read_text("utf-8").splitlines())


def test_the_card_counts_what_is_there() -> None:
    found = Counter((row["arm"], row["source"] == "samples", row["label"]) for row in rows())
    card = (FOLDER / "DATACARD.md").read_text("utf-8")
    table = re.findall(r"^\| (\w+) \| (sample corpus|encyclopedia) \| (\d+) \| (.+) \|$", card, re.MULTILINE)
    shown = {
        (arm, source == "sample corpus", label): int(count)
        for arm, source, _, counts in table
        for label, count in zip(LABELS, counts.split(" | "), strict=True)
    }
    assert {key: n for key, n in shown.items() if n} == dict(found)
    assert sum(int(total) for _, _, total, _ in table) == len(rows())


def test_halves_are_by_question_and_labels_are_settled() -> None:
    halves: dict[str, set[str]] = {}
    for row in rows():
        halves.setdefault(row["question"], set()).add(row["half"])
        assert row["label"] in LABELS and {row["label_a"], row["label_b"]} <= set(LABELS)
        assert row["label"] in (row["label_a"], row["label_b"])
        assert (row["error"] is not None) == (row["label"] == "hallucinated")
    assert all(len(half) == 1 for half in halves.values())
    assert len({row["id"] for row in rows()}) == len(rows())


def test_what_was_shown_lies_in_the_corpus() -> None:
    lengths = {d.id: len(d.text) for d in load_documents([sample_corpus_path()]) if isinstance(d, Document)}
    for row in rows():
        assert all(0 <= s["start"] < s["end"] <= lengths[s["document_id"]] for s in row["shown"])
        assert set(row["relevant_document_ids"]) <= set(lengths)
        assert (row["arm"] == "closed_book") == (not row["shown"])
