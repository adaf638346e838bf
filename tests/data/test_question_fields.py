"""Questions in the formats of public sets and data frames: every field is read, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.errors import DataError
from data.fields import FieldError
from data.question_json import question_from_fields
from data.question_loader import load_questions

BASE: dict[str, Any] = {"id": "1", "question": "How deep is the quay?"}


@pytest.mark.parametrize(
    ("fields", "references"),
    [
        ({"golden_answers": ["six metres", "6 m"]}, ("six metres", "6 m")),
        ({"gold": "six metres"}, ("six metres",)),
        ({"gt_answer": "six metres"}, ("six metres",)),
        ({"expected_output": "six metres"}, ("six metres",)),
        ({"target": 6}, ("6",)),
        ({"answer": "six metres"}, ("six metres",)),
        ({"answers": {"text": ["six metres", "six metres"], "answer_start": [3, 3]}}, ("six metres",)),
        ({"answer": {"value": "six metres", "aliases": ["6 m"], "type": "Numerical"}}, ("six metres", "6 m")),
        ({"output": [{"answer": "six metres"}, {"provenance": [{"title": "Quay"}]}]}, ("six metres",)),
        ({"correct_answers": np.array(["six metres", "6 m"])}, ("six metres", "6 m")),
        ({"references": [], "ground_truth": "six metres"}, ("six metres",)),
        ({"references": ["six metres"], "ground_truth": "six metres"}, ("six metres",)),
        ({"ground_truth": float("nan"), "target": None}, ()),
        ({"ground_truths": [float("nan"), "six metres"]}, ("six metres",)),
        ({"plausible_answers": ["nine"], "answer_type": "span", "contexts": ["..."], "metadata": {"a": 1}}, ()),
    ],
)
def test_accepted_answers_under_the_names_of_others(fields: dict[str, Any], references: tuple[str, ...]) -> None:
    assert question_from_fields({**BASE, **fields}).references == references


@pytest.mark.parametrize(
    ("fields", "answerable"),
    [
        ({"is_impossible": True, "answers": []}, False),
        ({"is_impossible": False}, True),
        ({"is_impossible": np.bool_(True)}, False),
        ({"unanswerable": "yes"}, False),
        ({"is_answerable": 0}, False),
        ({"is_unanswerable": float("nan")}, True),
        ({"answerable": False, "is_impossible": True}, False),
    ],
)
def test_questions_that_are_not_answered(fields: dict[str, Any], answerable: bool) -> None:
    assert question_from_fields({**BASE, **fields}).answerable is answerable


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"solution": "six"}, "solution"),
        ({"Gold Passage": "six"}, "Gold Passage"),
        ({"short_answers": ["six"]}, "short_answers"),
        ({"relevant_docs": ["quay"]}, "relevant_docs"),
        ({"positive_ctxs": [{"text": "x"}]}, "positive_ctxs"),
        ({"golden_answers": ["six"], "target": "seven"}, "golden_answers"),
        ({"answerable": True, "is_impossible": True}, "is_impossible"),
        ({"is_impossible": "perhaps"}, "is_impossible"),
        ({"gold": {"answer_id": 3}}, "gold"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(FieldError, match=named):
        question_from_fields({**BASE, **fields})


def test_ids_and_texts_of_data_frames() -> None:
    question = question_from_fields({"qid": np.float64(7.0), "query": "How deep?", "answers": np.array(["six"])})
    assert (question.id, question.text, question.references) == ("7", "How deep?", ("six",))
    with pytest.raises(FieldError, match="text"):
        question_from_fields({"id": "1", "text": float("nan")})


def test_nan_in_json_lines_is_missing_and_infinity_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": 1, "text": "How deep?", "ground_truth": NaN}\n')
    assert load_questions(path)[0].references == ()
    path.write_text('{"id": 1, "text": "How deep?", "ground_truth": Infinity}\n')
    with pytest.raises(DataError, match="Infinity"):
        load_questions(path)


def test_parquet_and_arrow_hold_questions_too(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "text": ["How deep?", "Who?"], "answers": [["six"], []], "x": [1.5, None]})
    pq.write_table(table, tmp_path / "q.parquet")
    with pa.ipc.new_stream(tmp_path / "data-00000-of-00001.arrow", table.schema) as sink:
        sink.write_table(table)
    for name in ("q.parquet", "data-00000-of-00001.arrow"):
        questions = load_questions(tmp_path / name)
        assert [(q.id, q.references) for q in questions] == [("a", ("six",)), ("b", ())]


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("q.xlsx", b"PK\x03\x04rest", "Excel"),
        ("q.jsonl.zst", b"\x28\xb5\x2f\xfdrest", "zstd"),
        ("q.db", b"SQLite format 3\0rest", "SQLite"),
        ("q.pkl", b"\x80\x04rest", "pickle"),
    ],
)
def test_files_in_another_form_are_called_what_they_are(tmp_path: Path, name: str, content: bytes, named: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=named) as caught:
        load_questions(tmp_path / name)
    assert "JSON Lines" in str(caught.value) or "CSV" in str(caught.value) or "unpack" in str(caught.value)
    assert "column 1" not in str(caught.value)
