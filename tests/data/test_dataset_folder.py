"""Folders that Hugging Face datasets writes with save_to_disk; their Arrow streams are written with pyarrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from data.answers import load_answers
from data.errors import DataError
from data.question_loader import load_questions

ROWS = [
    {"id": "1", "question": "How long?", "answer": "Three years.", "contexts": ["It lasts three years."]},
    {"id": "2", "question": "How wide?", "answer": "Two metres.", "contexts": []},
]


def saved(folder: Path, rows: list[dict[str, Any]], shards: int = 1) -> Path:
    """Write a dataset as save_to_disk does: Arrow streams, state.json and dataset_info.json."""
    folder.mkdir(parents=True)
    names = [f"data-{n:05d}-of-{shards:05d}.arrow" for n in range(shards)]
    size = -(-len(rows) // shards)
    for n, name in enumerate(names):
        table = pa.Table.from_pylist(rows[n * size : (n + 1) * size])
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "f", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}, "citation": ""}))
    return folder


def test_answers_and_questions_of_a_folder(tmp_path: Path) -> None:
    folder = saved(tmp_path / "d", ROWS, shards=2)
    file = load_answers([folder])
    assert [(r.id, r.answer, r.contexts) for r in file.records] == [
        ("1", "Three years.", ("It lasts three years.",)),
        ("2", "Two metres.", ()),
    ]
    assert file.format == "datasets"
    asked = saved(tmp_path / "q", [{k: row[k] for k in ("id", "question")} for row in ROWS])
    assert [q.text for q in load_questions(asked)] == ["How long?", "How wide?"]


def test_splits_are_chosen_by_name(tmp_path: Path) -> None:
    for name, rows in (("train", ROWS[:1]), ("test", ROWS[1:])):
        saved(tmp_path / "d" / name, rows)
    (tmp_path / "d" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(DataError, match="train, test") as failure:
        load_answers([tmp_path / "d"])
    assert failure.value.parameter == "split"
    assert [r.id for r in load_answers([tmp_path / "d"], split="test").records] == ["2"]
    assert [r.id for r in load_answers([tmp_path / "d"], split="all").records] == ["1", "2"]
    with pytest.raises(DataError, match="'dev'"):
        load_answers([tmp_path / "d"], split="dev")
    with pytest.raises(DataError, match="without splits"):
        load_answers([tmp_path / "d" / "test"], split="test")


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    folder = saved(tmp_path / "d", ROWS, shards=2)
    second = folder / "data-00001-of-00002.arrow"
    whole = second.read_bytes()
    second.write_bytes(whole[:200])
    with pytest.raises(DataError, match="data-00001-of-00002"):
        load_answers([folder])
    second.unlink()
    with pytest.raises(DataError, match=r"data-00001-of-00002\.arrow is missing"):
        load_answers([folder])
    for state in ("{", "[]", "{}", '{"_data_files": [{"filename": "../../secret.arrow"}]}'):
        (folder / "state.json").write_text(state)
        with pytest.raises(DataError, match=r"state\.json"):
            load_answers([folder])


def test_nested_nulls_are_missing_values(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    passage = pa.struct([("text", pa.string()), ("score", pa.float64())])
    table = pa.table(
        {
            "id": ["1", "2", "3"],
            "question": pa.array([None, None, "How long?"]),
            "answer": ["a", "b", "c"],
            "contexts": pa.array(
                [[{"text": None, "score": None}, {"text": "Three years.", "score": 0.5}, None], None, []],
                pa.list_(passage),
            ),
            "references": pa.array([[None], [], None], pa.list_(pa.null())),
            "metadata": pa.array([None, {"arm": None}, {"arm": "two"}], pa.struct([("arm", pa.string())])),
            "ground_truth": pa.nulls(3),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    first, second, third = load_answers([tmp_path / "a.parquet"]).records
    assert first.contexts == ("Three years.",)
    assert (second.contexts, third.contexts) == ((), ())
    assert {r.references for r in (first, second, third)} == {()}
    assert [r.arm for r in (first, second, third)] == ["answers", "answers", "two"]
