"""Answers in the formats of RAGChecker, RefChecker, FlashRAG, HaluEval, SQuAD, Inspect and data frames."""

from __future__ import annotations

import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from data.answer_records import AnswerRecord
from data.answers import AnswerFile, answers_from_rows, load_answers
from data.errors import DataError
from data.record_fields import FieldNames

NAN = float("nan")
BASE: dict[str, Any] = {"question": "How deep is the quay?", "answer": "six metres"}
PASSAGE = "The quay was set_index_depth in 1931. Since then ships of six metres draught can land."


class NAType:
    """A value like pandas' NA, whose comparisons are neither true nor false."""

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    def __eq__(self, other: object) -> Any:
        return self

    __hash__ = object.__hash__


def read(row: dict[str, Any], names: FieldNames | None = None) -> AnswerRecord:
    (record,) = answers_from_rows([row], names=names).records
    return record


@pytest.mark.parametrize("missing", [NAN, np.float32("nan"), None, NAType(), "nan", "<NA>", Decimal("nan"), ""])
def test_missing_values_are_missing(missing: object) -> None:
    record = read({**BASE, "ground_truth": missing, "contexts": missing, "model": missing, "label": missing})
    assert (record.references, record.contexts, record.arm, record.hallucinated) == ((), (), "answers", None)
    assert read({"question": missing, "answer": "six"}).question == ""
    assert read({**BASE, "contexts": [missing, "Six."]}).contexts == ("Six.",)


def test_an_answer_that_is_missing_is_empty() -> None:
    assert read({**BASE, "answer": NAN}).answer == ""


def test_arrays_are_lists() -> None:
    record = read(
        {**BASE, "contexts": np.array(["One.", "Two."]), "references": np.array([], dtype=object), "id": np.int64(7)}
    )
    assert (record.contexts, record.references, record.id) == (("One.", "Two."), (), "7")


@pytest.mark.parametrize("cell", ["nan", "NaN", "None", "<NA>", "null", "NULL", " nan "])
def test_cells_that_say_nothing(tmp_path: Path, cell: str) -> None:
    (tmp_path / "a.csv").write_text(f"question,answer,contexts,ground_truth\nHow deep?,six,{cell},\"[nan, 'six']\"\n")
    (record,) = load_answers([tmp_path / "a.csv"]).records
    assert (record.contexts, record.references) == ((), ("six",))


def test_words_that_only_begin_so_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("question,answer\nWho?,Nana\nWhat?,None of them\n")
    assert [r.answer for r in load_answers([tmp_path / "a.csv"]).records] == ["Nana", "None of them"]
    assert read({**BASE, "answer": "None"}).answer == "None"


RAGCHECKER = {"query": "q", "gt_answer": "six", "response": "6", "retrieved_context": [{"doc_id": "1", "text": "Six."}]}
FLASHRAG = {
    "question": "q",
    "golden_answers": ["six"],
    "output": {"pred": "6", "retrieval_result": [{"contents": "Six."}]},
}


@pytest.mark.parametrize(
    ("row", "contexts", "references", "answer"),
    [
        (RAGCHECKER, ("Six.",), ("six",), "6"),
        (FLASHRAG, ("Six.",), ("six",), "6"),
        ({"question": "q", "knowledge": "Six.", "output": "6", "right_answer": "six"}, ("Six.",), ("six",), "6"),
        ({"query": "q", "result": "6", "source_documents": [{"page_content": "Six."}]}, ("Six.",), (), "6"),
        ({"question": "q", "pred": "6", "answers": {"text": ["six"], "answer_start": [0]}}, (), ("six",), "6"),
        ({"input": "q", "output": "6", "expected": "six"}, (), ("six",), "6"),
    ],
)
def test_layouts_of_tools(
    row: dict[str, Any], contexts: tuple[str, ...], references: tuple[str, ...], answer: str
) -> None:
    record = read(row)
    assert (record.contexts, record.references, record.answer) == (contexts, references, answer)


def test_is_impossible_says_that_the_documents_do_not_answer() -> None:
    assert not read({**BASE, "is_impossible": True}).answerable
    assert read({**BASE, "is_impossible": False}).answerable
    with pytest.raises(DataError, match="is_impossible"):
        read({**BASE, "is_impossible": "sometimes"})


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "response": "six metres", "reference": PASSAGE},
        {"response": "six metres", "reference": [PASSAGE, "The harbour froze."]},
        {"response": "six", "reference": "Six.", "claims": [["quay", "depth", "six"]]},
    ],
)
def test_the_reference_of_refchecker_is_evidence(row: dict[str, Any]) -> None:
    file = answers_from_rows([row])
    given = row["reference"]
    assert file.records[0].contexts == (tuple(given) if isinstance(given, list) else (given,))
    assert file.records[0].references == ()
    assert dict(file.columns)["contexts"] == "reference"
    assert any("RefChecker" in note for note in file.notes)
    assert read(row, FieldNames(references="reference")).contexts == ()


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "q", "response": "six metres", "reference": PASSAGE},
        {"question": "q", "response": "six metres", "reference": "six metres deep"},
        {"question": "q", "answer": "six metres", "reference": PASSAGE},
        {"question": "q", "response": "six", "reference": PASSAGE, "contexts": ["Six."]},
    ],
)
def test_other_references_are_accepted_answers(row: dict[str, Any]) -> None:
    assert read(row).references == (row["reference"],)


def test_fields_that_are_not_read_are_named() -> None:
    file = answers_from_rows(
        [{**BASE, "hallucination_labels": "[]", "score": 1, "teacher_answer": "six", "latency": 2}]
    )
    (note,) = file.notes
    assert '"hallucination_labels"' in note
    assert '"teacher_answer"' in note
    assert "score" not in note
    assert answers_from_rows([BASE]).notes == ()


def test_a_file_without_an_answer_names_what_it_has() -> None:
    with pytest.raises(DataError, match=r"hallucinated_answer.*name it as the field answer"):
        read({"knowledge": "Six.", "question": "q", "right_answer": "six", "hallucinated_answer": "nine"})


def log(**sample: Any) -> dict[str, Any]:
    base = {"id": 1, "epoch": 2, "input": "How deep?", "target": "six", "metadata": {"contexts": ["Six."]}}
    output = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "6"}}], "completion": "6"}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "openai/x"},
        "samples": [{**base, "output": output, **sample}],
    }


def write_log(path: Path, value: dict[str, Any]) -> AnswerFile:
    path.write_text(json.dumps(value))
    return load_answers([path])


PARTS = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "6"}]
TURNS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Deep?"}]}]
APART = {
    "input": "attachment://a1",
    "output": {"completion": "attachment://a2"},
    "attachments": {"a1": "How?", "a2": "Six"},
}


@pytest.mark.parametrize(
    ("sample", "question", "answer"),
    [
        ({}, "How deep?", "6"),
        ({"output": {"choices": [{"message": {"content": PARTS}}]}}, "How deep?", "6"),
        ({"input": TURNS}, "Deep?", "6"),
        (APART, "How?", "Six"),
    ],
)
def test_samples_of_inspect(tmp_path: Path, sample: dict[str, Any], question: str, answer: str) -> None:
    (record,) = write_log(tmp_path / "log.json", log(**sample)).records
    assert (record.question, record.answer, record.id, record.sample) == (question, answer, "1", "2")
    assert (record.references, record.contexts, record.arm) == (("six",), ("Six.",), "openai/x")


def test_a_sample_of_inspect_that_failed_is_named(tmp_path: Path) -> None:
    failed = log(output={"model": "m", "choices": [], "error": "x"}, error={"message": "connection lost"})
    with pytest.raises(DataError, match="connection lost"):
        write_log(tmp_path / "log.json", failed)


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    full = log()
    path = tmp_path / "2026-01-01_t.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({key: value for key, value in full.items() if key != "samples"}))
        archive.writestr("summaries.json", "[]")
        for epoch in (1, 2):
            archive.writestr(f"samples/1_epoch_{epoch}.json", json.dumps({**full["samples"][0], "epoch": epoch}))
    file = load_answers([path])
    assert [(r.id, r.sample, r.answer, r.arm) for r in file.records] == [
        ("1", "1", "6", "openai/x"),
        ("1", "2", "6", "openai/x"),
    ]
    assert file.format == "inspect"


def test_an_archive_whose_sample_is_damaged(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", "[[[")
    with pytest.raises(DataError, match="1_epoch_1"):
        load_answers([tmp_path / "a.eval"])


def test_parquet_arrow_and_feather(tmp_path: Path) -> None:
    table = pa.table(
        {"question": ["q", "q"], "answer": ["six", "nine"], "contexts": [["Six."], None], "ground_truth": [NAN, NAN]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "no_ending")
    feather.write_feather(table, tmp_path / "a.feather")
    with pa.ipc.new_file(tmp_path / "file.arrow", table.schema) as sink:
        sink.write_table(table)
    with pa.ipc.new_stream(tmp_path / "stream.arrow", table.schema) as sink:
        sink.write_table(table)
    for name in ("a.parquet", "no_ending", "a.feather", "file.arrow", "stream.arrow"):
        file = load_answers([tmp_path / name])
        assert [(r.answer, r.contexts, r.references) for r in file.records] == [
            ("six", ("Six.",), ()),
            ("nine", (), ()),
        ]
        assert file.format == "arrow"


@pytest.mark.parametrize("keep", [4, 12, -9])
def test_a_damaged_table_is_named(tmp_path: Path, keep: int) -> None:
    pq.write_table(pa.table({"answer": ["six"]}), tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:keep])
    with pytest.raises(DataError, match=r"cut\.parquet"):
        load_answers([tmp_path / "cut.parquet"])


def test_without_pyarrow_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"answer": ["six"]}), tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"plumbline-rag\[parquet\]"):
        load_answers([tmp_path / "a.parquet"])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b'[\n {"answer": "six"}\n]', "JSON list"),
        ("a.xlsx", b"PK\x03\x04rest of a workbook", "Excel"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfdrest", "zstd"),
        ("a.csv", b"\x1f\x8brest", r"\.gz"),
        ("a.parquet", b'{"answer": "six"}', "format of its name"),
        ("a.pickle", b"\x80\x05rest", "pickle"),
    ],
)
def test_files_in_another_form_are_called_what_they_are(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        load_answers([tmp_path / name])
    assert "UTF-8 text" not in str(caught.value)
