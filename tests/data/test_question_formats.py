"""Question files in every format give the same questions, with IDs, references and labels."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.errors import DataError
from data.question_loader import load_questions
from data.questions import Question

ROWS: list[dict[str, Any]] = [
    {"id": "quay", "question": "How deep is the quay?", "answers": ["six metres", "6 m"], "answerable": True},
    {"id": "bell", "question": "Who cast the bell?", "answers": [], "answerable": False},
]


def check(questions: tuple[Question, ...], ids: tuple[str, ...] = ("quay", "bell")) -> None:
    """Check that the questions are those of ROWS."""
    assert [q.text for q in questions] == [row["question"] for row in ROWS]
    assert tuple(q.id for q in questions) == ids
    assert [q.references for q in questions] == [("six metres", "6 m"), ()]
    assert [q.answerable for q in questions] == [True, False]


def table(path: Path, rows: list[dict[str, Any]], separator: str = ",") -> Path:
    """Write a table with lists as JSON."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows)
    return path


@pytest.mark.parametrize("name", ["q.csv", "q.tsv"])
def test_tables(tmp_path: Path, name: str) -> None:
    separator = "\t" if name.endswith("tsv") else ","
    check(load_questions(table(tmp_path / name, ROWS, separator)))
    named = [{"Question ID": r["id"], "Question": r["question"], "Answers": r["answers"]} for r in ROWS]
    named[1] |= {"Is Answerable": "no"}
    named[0] |= {"Is Answerable": "yes"}
    check(load_questions(table(tmp_path / f"named-{name}", named, separator)))


def test_a_table_of_question_and_answer_alone(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("Question;Answer\nHow deep is the quay?;six metres\nWho cast the bell?;\n")
    first, second = load_questions(path)
    assert (first.text, first.references) == ("How deep is the quay?", ("six metres",))
    assert second.references == ()
    assert (first.id, second.id) == ("2", "3")  # numbers of the lines in the file


@pytest.mark.parametrize("name", ["q.json", "q.jsonl"])
def test_a_json_list_and_its_wrappers(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(ROWS))
    check(load_questions(path))
    if name == "q.json":
        path.write_text(json.dumps({"data": ROWS}, indent=1))
        check(load_questions(path))


def test_parquet_with_null_types(tmp_path: Path) -> None:
    rows = [{**row, "answers": row["answers"] or None, "evidence": None, "kind": None} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "q.parquet")
    check(load_questions(tmp_path / "q.parquet"))


def log(epochs: int = 2) -> dict[str, Any]:
    """Return a log of Inspect with both questions in each epoch."""
    samples = [
        {
            "id": row["id"],
            "epoch": epoch,
            "input": [{"role": "user", "content": row["question"]}] if row["id"] == "quay" else row["question"],
            "target": row["answers"],
            "output": {"completion": f"answer {epoch}", "choices": []},
            "metadata": {"answerable": row["answerable"]},
        }
        for epoch in range(1, epochs + 1)
        for row in ROWS
    ]
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}


def test_logs_of_inspect_in_json_and_as_archive(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(log()))
    check(load_questions(tmp_path / "log.json"))
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({k: v for k, v in log().items() if k != "samples"}))
        for sample in log()["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    assert {q.id for q in load_questions(tmp_path / "log.eval")} == {"quay", "bell"}


def test_a_sample_that_differs_between_epochs_is_an_error(tmp_path: Path) -> None:
    changed = log()
    changed["samples"][2]["target"] = ["seven metres"]
    (tmp_path / "log.json").write_text(json.dumps(changed))
    with pytest.raises(DataError, match="'quay' was already used"):
        load_questions(tmp_path / "log.json")


def test_a_data_set_of_inspect_in_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [
        {"id": "quay", "input": [{"role": "user", "content": ROWS[0]["question"]}], "target": ["six metres", "6 m"]},
        {"id": "bell", "input": ROWS[1]["question"], "target": [], "answerable": False},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    check(load_questions(path))


def test_a_test_set_of_ragas(tmp_path: Path) -> None:
    row = {"user_input": "How deep is the quay?", "reference_contexts": ["It is six metres deep."]}
    path = table(tmp_path / "testset.csv", [{**row, "reference": "six metres", "synthesizer_name": "single_hop"}])
    (question,) = load_questions(path)
    assert question.references == ("six metres",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("question,answers\nHow deep?,\"['six' ... 'ten']\"\n", "numpy omitted items"),
        ("question,answerable\nHow deep?,perhaps\n", "\"answerable\" is 'perhaps'"),
        ("question,answer\nHow deep?\n", "1 cells, but the header has 2"),
        ("prompt\nHow deep?\n", '"text" or "question"'),
    ],
)
def test_bad_cells_are_named_by_line(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=rf"q\.csv:2: .*{expected}"):
        load_questions(path)
