"""The shipped labelled answers: offsets, splits by passage, and the numbers in their data cards."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from data.ragtruth import load_ragtruth
from tests.data.sample_files import SAMPLES, sample_lines, sample_responses

NAMES = ("labelled_answers", "natural_answers", "twin_answers", "edited_answers")
FOLDERS = [SAMPLES / name for name in NAMES]
each = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return sample_lines(folder / f"{name}.jsonl.bz2")


@pytest.mark.drill
@each
def test_the_card_counts_what_is_there(folder: Path) -> None:
    found: Counter[tuple[str, str]] = Counter()
    splits: dict[str, str] = {}
    kinds = {row["source_id"]: row["source"] for row in rows(folder, "source_info")}
    for kind in kinds.values():
        found[kind, "passages"] += 1
    for row in rows(folder, "response"):
        kind = kinds[row["source_id"]]
        splits[kind] = row["split"]
        found.update({(kind, "answers"): 1, (kind, "marked"): bool(row["labels"]), (kind, "marks"): len(row["labels"])})
    names = ("passages", "answers", "marked", "marks")
    card = (folder / "DATACARD.md").read_text("utf-8")
    for kind in splits:
        numbers = " | ".join(str(found[kind, name]) for name in names)
        assert f"| {kind} | {splits[kind]} | {numbers} |" in card
    total = " | ".join(str(sum(found[kind, name] for kind in splits)) for name in names)
    assert f"| all | | {total} |" in card


@each
def test_marks_are_where_they_say(folder: Path) -> None:
    for row in rows(folder, "response"):
        spans = [(label["start"], label["end"]) for label in row["labels"]]
        assert all(row["response"][label["start"] : label["end"]] == label["text"] != "" for label in row["labels"])
        assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_of_the_labelled_answers_the_first_has_no_marks_and_the_others_have() -> None:
    for row in rows(FOLDERS[0], "response"):
        assert (not row["labels"]) == (row["model"] == "faithful") == row["id"].endswith("_1")


def test_each_passage_has_six_natural_answers_by_three_strengths() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows(FOLDERS[1], "response"):
        found[row["source_id"]].append(row["model"])
    assert all(models == ["strong"] * 2 + ["medium"] * 2 + ["weak"] * 2 for models in found.values())


def test_twins_are_one_text_but_for_their_marks() -> None:
    twins: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(FOLDERS[2], "response"):
        twins[row["id"].rpartition("_")[0]].append(row)
    assert Counter(map(len, twins.values())) == {3: 1279, 2: 1}
    for right, *wrong in twins.values():
        assert right["id"].endswith("_1") and right["model"] == "right" and not right["labels"]
        for row in wrong:
            assert row["model"] == "wrong" and row["labels"] and row["source_id"] == right["source_id"]
            kept = re.escape(unmarked(row)).replace("\0", ".*")
            assert re.fullmatch(kept, right["response"], re.DOTALL), row["id"]


def test_an_edited_text_is_right_or_wrong_whoever_reads_it() -> None:
    """Each text has versions of both labels, unless it is entirely wrong, and no version has both."""
    versions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    labels: dict[tuple[str, str], bool] = {}
    for row in rows(FOLDERS[3], "response"):
        versions[row["id"].rpartition("_")[0]].append(row)
        assert (row["model"] == "wrong") == bool(row["labels"])
        assert labels.setdefault((row["source_id"], row["response"]), bool(row["labels"])) == bool(row["labels"])
    kinds = [{bool(row["labels"]) for row in text} for text in versions.values()]
    assert {True, False} in kinds and {True} in kinds and {False} not in kinds
    assert all(len(text) == len({row["response"] for row in text}) for text in versions.values())


def test_the_edited_test_set_has_ten_passages_of_each_genre() -> None:
    genres = Counter(row["genre"] for row in rows(FOLDERS[3], "source_info") if row["source"] == "mixed")
    assert len(genres) == 8 and set(genres.values()) == {10}


def unmarked(row: dict[str, Any]) -> str:
    """Return the answer with a zero byte in place of each mark and the spaces around it."""
    out, at = "", 0
    for label in row["labels"]:
        out, at = out + row["response"][at : label["start"]].rstrip() + "\0", label["end"]
        at += len(row["response"][at:]) - len(row["response"][at:].lstrip())
    return out + row["response"][at:]


@each
def test_no_passage_is_trained_and_tested_on(folder: Path) -> None:
    read = sample_responses(folder)
    assert len({r.id for r in read}) == len(read)
    tested = {r.evidence for r in read if r.split == "test"}
    assert tested and tested.isdisjoint(r.evidence for r in read if r.split == "train")
    assert {r.split for r in read} == {"train", "test"}


def test_of_the_splits_the_test_is_read_unless_another_is_named() -> None:
    expected = [r.id for r in sample_responses(FOLDERS[0]) if r.split == "test"]
    assert [r.id for r in load_ragtruth(FOLDERS[0]).responses] == expected
