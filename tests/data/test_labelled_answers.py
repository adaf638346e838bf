"""The labelled answers that ship: readable, in the places they say, split by passage, as many as their card says."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from data.ragtruth import load_ragtruth

FOLDER = Path(__file__).parents[2] / "data" / "samples" / "labelled_answers"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bz2.open(FOLDER / f"{name}.jsonl.bz2", "rt", encoding="utf-8")]


def test_the_card_counts_what_is_there() -> None:
    found: Counter[tuple[str, str]] = Counter()
    splits: dict[str, str] = {}
    kinds = {row["source_id"]: row["source"] for row in rows("source_info")}
    for kind in kinds.values():
        found[kind, "passages"] += 1
    for row in rows("response"):
        kind = kinds[row["source_id"]]
        splits[kind] = row["split"]
        found.update({(kind, "answers"): 1, (kind, "marked"): bool(row["labels"]), (kind, "marks"): len(row["labels"])})
    names = ("passages", "answers", "marked", "marks")
    card = (FOLDER / "DATACARD.md").read_text("utf-8")
    for kind in splits:
        numbers = " | ".join(str(found[kind, name]) for name in names)
        assert f"| {kind} | {splits[kind]} | {numbers} |" in card
    total = " | ".join(str(sum(found[kind, name] for kind in splits)) for name in names)
    assert f"| all | | {total} |" in card


def test_marks_are_where_they_say_and_only_the_first_answer_has_none() -> None:
    for row in rows("response"):
        spans = [(label["start"], label["end"]) for label in row["labels"]]
        assert all(row["response"][label["start"] : label["end"]] == label["text"] != "" for label in row["labels"])
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
        assert (not spans) == (row["model"] == "faithful") == row["id"].endswith("_1")


def test_no_passage_is_trained_and_tested_on() -> None:
    read = load_ragtruth(FOLDER, split="all").responses
    assert len({r.id for r in read}) == len(read)
    tested = {r.evidence for r in read if r.split == "test"}
    assert tested and tested.isdisjoint(r.evidence for r in read if r.split == "train")
    assert len(load_ragtruth(FOLDER).responses) == sum(r.split == "test" for r in read)
    assert {r.split for r in read} == {"train", "test"}
