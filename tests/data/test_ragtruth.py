"""Files in RAGTruth's layout: three kinds of sources, spans, splits, and bad lines named by number."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError
from data.ragtruth import find_ragtruth, load_ragtruth

SOURCES: list[dict[str, Any]] = [
    {"source_id": "1", "task_type": "Summary", "source_info": "The ferry leaves at nine."},
    {"source_id": "2", "task_type": "QA", "source_info": {"question": "When?", "passages": "passage 1:At nine."}},
    {"source_id": 3, "task_type": "Data2txt", "source_info": {"name": "Café Šárka", "hours": {"Monday": "9:0-17:0"}}},
]
GOOD: dict[str, Any] = {
    "id": "a",
    "source_id": "1",
    "model": "m",
    "labels": [],
    "split": "test",
    "quality": "good",
    "response": "It leaves at ten.",
}
SPAN = {"start": 13, "end": 16, "text": "ten", "label_type": "Evident Conflict"}


def write(folder: Path, *responses: object, sources: object = SOURCES, name: str = "response.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    for file, lines in ((name, responses), ("source_info.jsonl", sources)):
        assert isinstance(lines, list | tuple)
        text = "\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines)
        (folder / file).write_text(text, "utf-8")
    return folder


def test_the_three_kinds_of_source_and_the_spans(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        {**GOOD, "labels": [SPAN]},
        {**GOOD, "id": 5, "source_id": "2"},
        {**GOOD, "id": "c", "source_id": 3, "response": ""},
    )
    one, two, three = load_ragtruth(folder).responses
    assert (one.hallucinated, one.spans, one.text[13:16]) == (True, ((13, 16),), "ten")
    assert (one.task, one.evidence, one.question) == ("Summary", "The ferry leaves at nine.", "")
    assert (two.id, two.task, two.evidence, two.question) == ("5", "QA", "passage 1:At nine.", "When?")
    assert (two.hallucinated, two.spans) == (False, ())
    assert json.loads(three.evidence)["name"] == "Café Šárka"
    assert three.text == ""


def test_the_test_split_is_the_default_where_there_is_one(tmp_path: Path) -> None:
    folder = write(tmp_path, {**GOOD, "split": "train"}, GOOD, {**GOOD, "id": "b"})
    assert [r.split for r in load_ragtruth(folder).responses] == ["test", "test"]
    assert load_ragtruth(folder, limit=1).split == "test"
    assert len(load_ragtruth(folder, split="all", limit=2).responses) == 2
    assert [r.split for r in load_ragtruth(folder, split="train").responses] == ["train"]
    with pytest.raises(DataError, match=r"'dev'.*test, train"):
        load_ragtruth(folder, split="dev")
    bare = {key: value for key, value in GOOD.items() if key != "split"}
    assert load_ragtruth(write(tmp_path / "bare", bare)).split == "all"


def test_files_are_found_in_a_folder_beside_each_other_and_compressed(tmp_path: Path) -> None:
    folder = write(tmp_path / "dataset", GOOD, name="mine.jsonl")
    assert len(load_ragtruth(folder / "mine.jsonl").responses) == 1
    assert find_ragtruth(tmp_path) is None
    (folder / "response.jsonl.bz2").write_bytes(bz2.compress((folder / "mine.jsonl").read_bytes()))
    assert len(load_ragtruth(tmp_path).responses) == 1
    with pytest.raises(DataError, match=r"source_info\.jsonl"):
        load_ragtruth(tmp_path / "nowhere")


def test_a_span_past_the_end_is_trimmed_and_counted(tmp_path: Path) -> None:
    spans = [{"start": 13, "end": 99}, {"start": 50, "end": 60}]
    read = load_ragtruth(write(tmp_path, {**GOOD, "labels": spans}, GOOD))
    assert read.responses[0].spans == ((13, 17),)
    assert read.responses[0].hallucinated
    assert read.trimmed == 1


BAD: list[object] = [
    "{",
    "[]",
    {**GOOD, "source_id": "9"},
    {**GOOD, "response": None},
    {**GOOD, "labels": None},
    {**GOOD, "labels": [{"start": 1}]},
    {**GOOD, "labels": [{"start": 5, "end": 2}]},
    {**GOOD, "labels": [{"start": "0", "end": 2}]},
    {**GOOD, "labels": ["x"]},
    {**GOOD, "id": True},
    {"id": "a"},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_bad_line_is_named_or_left_out(tmp_path: Path, bad: object) -> None:
    folder = write(tmp_path, GOOD, bad)
    with pytest.raises(DataError, match=r"response\.jsonl:2: .*skip such lines"):
        load_ragtruth(folder)
    read = load_ragtruth(folder, skip_bad=True)
    assert (len(read.responses), len(read.skipped)) == (1, 1)


def test_a_bad_source_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, GOOD, sources=[*SOURCES, {"source_id": "4", "task_type": "QA", "source_info": 5}])
    with pytest.raises(DataError, match=r"source_info\.jsonl:4.*source_info"):
        load_ragtruth(folder)
    assert len(load_ragtruth(folder, skip_bad=True).responses) == 1


def test_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no response in"):
        load_ragtruth(write(tmp_path))
