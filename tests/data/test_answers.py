"""Answers of other systems: every layout gives the same records, and errors name file and line."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
from pathlib import Path

import pytest

from data.answer_names import NAMES
from data.answer_records import AnswerRecord
from data.answers import AnswerFile, answers_from_rows, load_answers
from data.errors import DataError
from data.record_fields import FieldNames

RAGAS = {
    "user_input": "How long?",
    "response": "Three years.",
    "retrieved_contexts": ["It lasts three years.", "Batteries no."],
    "reference": "three years",
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def same(file: AnswerFile) -> tuple[tuple[object, ...], ...]:
    """Return the fields that must not depend on the layout."""
    return tuple((r.question, r.answer, r.contexts, r.references) for r in file.records)


@pytest.mark.parametrize(
    ("value", "expected"),
    [*((value, True) for value in (None, True, "", "1.0")), *((value, False) for value in (False, "false", "No", 0))],
)
def test_the_mark_of_questions_without_an_answer(value: object, expected: bool) -> None:
    for row in ({**RAGAS, "is_answerable": value}, {**RAGAS, "metadata": {"answerable": value}}):
        (record,) = answers_from_rows([row]).records
        assert record.answerable is expected
    (record,) = answers_from_rows([{**RAGAS, "impossible": value}]).records
    assert record.answerable


def test_a_mark_that_is_neither_is_an_error() -> None:
    for value in ("perhaps", 2, [False]):
        with pytest.raises(DataError, match=r"answerable"):
            answers_from_rows([{**RAGAS, "answerable": value}])


def test_every_layout_reads_alike(tmp_path: Path) -> None:
    lines = written(tmp_path / "a.jsonl", RAGAS, RAGAS)
    wanted = (("How long?", "Three years.", ("It lasts three years.", "Batteries no."), ("three years",)),) * 2
    files = [lines]
    for name, content in (
        ("list.json", json.dumps([RAGAS, RAGAS])),
        ("samples.json", json.dumps({"samples": [RAGAS, RAGAS]}, indent=1)),
        ("columns.json", json.dumps({key: [value, value] for key, value in RAGAS.items()})),
        ("misnamed.json", lines.read_text()),
        ("no_suffix", lines.read_text()),
    ):
        (tmp_path / name).write_text(content)
        files.append(tmp_path / name)
    for mark, name in ((",", "a.csv"), (";", "semicolons.csv"), ("\t", "a.tsv")):
        for how in (json.dumps, repr):
            path = tmp_path / f"{how.__name__}.{name}"
            with path.open("w", newline="", encoding="utf-8-sig") as file:
                writer = csv.writer(file, delimiter=mark)
                writer.writerow(["Question", "answer", "contexts", "ground truth"])
                for _ in range(2):
                    writer.writerow(["How long?", "Three years.", how(RAGAS["retrieved_contexts"]), "three years"])
            files.append(path)
    for pack, suffix in ((gzip.compress, ".gz"), (bz2.compress, ".bz2")):
        for source in (lines, tmp_path / "list.json", tmp_path / "dumps.a.csv"):
            packed = source.with_name(source.name + suffix)
            packed.write_bytes(pack(source.read_bytes()))
            files.append(packed)
    for path in files:
        assert same(load_answers([path])) == wanted, path.name
    assert same(answers_from_rows([RAGAS, RAGAS])) == wanted


def test_an_inspect_log_and_deepeval_and_squad_like_names_are_read() -> None:
    inspect = {"input": "q", "target": "t", "output": {"completion": "a"}, "epoch": 2, "metadata": {"arm": "x"}}
    deepeval = {"input": "q", "actual_output": "a", "expected_output": "t", "retrieval_context": ["c"]}
    one, two = (answers_from_rows([row]).records[0] for row in (inspect, deepeval))
    assert (one.question, one.answer, one.references, one.sample, one.arm) == ("q", "a", ("t",), "2", "x")
    assert (two.question, two.answer, two.references, two.contexts) == ("q", "a", ("t",), ("c",))


def test_ragtruths_layout_brings_labels_spans_systems_and_sources(tmp_path: Path) -> None:
    written(tmp_path / "source_info.jsonl", {"source_id": "s", "task_type": "Summary", "source_info": "The text."})
    rows = [
        {"id": str(n), "source_id": "s", "model": m, "labels": marked, "split": "test", "response": "The answer."}
        for n, (m, marked) in enumerate([("gpt", []), ("llama", [{"start": 4, "end": 99}])])
    ]
    written(tmp_path / "response.jsonl", *rows)
    for path in (tmp_path, tmp_path / "response.jsonl"):
        file = load_answers([path])
        assert file.format == "ragtruth"
        assert [(r.arm, r.group, r.hallucinated, r.spans) for r in file.records] == [
            ("gpt", "s", False, ()),
            ("llama", "s", True, ((4, 11),)),
        ]
        assert any("beyond their end" in note for note in file.notes)
    assert all(r.hallucinated is None for r in load_answers([tmp_path], names=FieldNames(labels=False)).records)


def test_fields_can_be_named_and_what_is_read_is_said() -> None:
    rows = [{"frage": "q", "text": "a", "quelle": "c", "response": "not this"}]
    names = FieldNames(question="frage", answer="text", contexts="quelle")
    file = answers_from_rows(rows, names=names)
    assert same(file) == (("q", "a", ("c",), ()),)
    assert dict(file.columns)["answer"] == "text"
    with pytest.raises(DataError, match='it has no "texte": it has frage, text'):
        answers_from_rows(rows, names=FieldNames(answer="texte"))


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("hallucinated", True, True),
        ("hallucinated", "0", False),
        ("supported", "yes", False),
        ("faithful", 0, True),
        ("label", "Hallucinated", True),
        ("label", "not supported", True),
        ("label", "entailment", False),
        ("hallucinated", "", None),
        ("hallucinated", None, None),
        ("labels", [{"start": 0, "end": 1}], True),
        ("labels", [], False),
        ("labels", ["weather"], None),
    ],
)
def test_labels(field: str, value: object, wanted: bool | None) -> None:
    assert answers_from_rows([{"answer": "ab", field: value}]).records[0].hallucinated is wanted


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"hallucinated": "maybe"}, "'maybe': a label must be true or false"),
        ({"hallucinated": 0.5}, "0.5: a label must be true or false"),
        ({"label": 1}, "may mean supported or hallucinated"),
        ({"labels": [{"start": 5, "end": 2}]}, "a marked span is from 5 to 2"),
        ({"references": [["a"], ["b"]]}, r'"references\[0\]" is a list in a list'),
        ({"contexts": [{"title": "x"}]}, r'"contexts\[0\]" is an object without text'),
        ({"response": "b"}, '"answer" and "response" could each be the answer'),
        ({"question": [{"role": "user"}]}, "is a list of turns"),
        ({"answer": True}, '"answer" is true or false, it must be text'),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_place(fields: dict[str, object], expected: str) -> None:
    with pytest.raises(DataError, match=f"rows, item 2: .*{expected}"):
        answers_from_rows([{"answer": "fine"}, {"answer": "a", **fields}])


def test_broken_lines_are_named_and_may_be_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"answer": "one"}\n{"answer": \n[1]\n{"question": "q"}\n{"answer": "two"}\n')
    with pytest.raises(DataError, match="3 problems") as failure:
        load_answers([path])
    for line in (2, 3, 4):
        assert f"a.jsonl:{line}: " in str(failure.value)
    file = load_answers([path], skip_bad=True)
    assert [r.answer for r in file.records] == ["one", "two"]
    assert [r.id for r in file.records] == ["1", "5"]
    assert len(file.skipped) == 3


def test_an_id_that_comes_twice_in_one_system_is_an_error(tmp_path: Path) -> None:
    rows = [{"id": "x", "answer": "1", "arm": "a"}, {"id": "x", "answer": "2", "arm": "b"}]
    path = written(tmp_path / "a.jsonl", *rows, {"id": "x", "answer": "3", "arm": "b"})
    with pytest.raises(DataError, match=r"a.jsonl:3.*'x'.*a.jsonl:2"):
        load_answers([path])
    assert len(load_answers([path], skip_bad=True).records) == 2
    numbered = [{**row, "sample": n} for n, row in enumerate([*rows, rows[1]])]
    assert len(answers_from_rows(numbered).records) == 3


def test_a_table_without_a_header_is_told_from_one_with(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("How long does it last?,It lasts for three years as far as we know.,It lasts.\n")
    with pytest.raises(DataError, match="looks like an answer, not like a header"):
        load_answers([path])
    path.write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match=r"a.csv:2.*x, y"):
        load_answers([path])
    path.write_text("answer,context\nyes\n")
    with pytest.raises(DataError, match="1 cells, but the header has 2"):
        load_answers([path])
    path.write_text("answer,answer\nyes,no\n")
    with pytest.raises(DataError, match="two columns 'answer'"):
        load_answers([path])


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a"])
def test_a_file_without_an_answer_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text({"a.json": "[]", "a.csv": "answer,contexts\n"}.get(name, ""))
    with pytest.raises(DataError, match=r"no answer|empty"):
        load_answers([tmp_path / name])
    with pytest.raises(DataError, match="does not exist"):
        load_answers([tmp_path / "nothing.jsonl"])
    with pytest.raises(DataError, match=r"folder without state\.json"):
        load_answers([tmp_path])


def test_long_hostile_and_empty_texts_are_kept(tmp_path: Path) -> None:
    long = "The sky is blue. " * 3000
    rows = [{"answer": long, "context": "c\0\ud800"}, {"answer": None}, {"answer": "", "references": ["", None]}]
    first, second, third = answers_from_rows(rows).records
    assert first.answer == long
    assert first.contexts == ("c\ufffd\ufffd",)
    assert (second.answer, third.answer, third.references) == ("", "", ())
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["answer", "context"], ["x", "c" * 300_000]])
    before = csv.field_size_limit()
    assert len(load_answers([path]).records[0].contexts[0]) == 300_000
    assert csv.field_size_limit() == before


def test_records_say_where_they_stand(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", RAGAS)
    two = written(tmp_path / "two.jsonl", RAGAS)
    records = load_answers([one, two]).records
    assert [r.id for r in records] == ["one.jsonl:1", "two.jsonl:1"]
    assert records[1] == AnswerRecord(
        *("two.jsonl:1", "How long?", "Three years.", ("It lasts three years.", "Batteries no.")),
        references=("three years",),
        where=f"{two}:1",
    )


def test_the_documented_table_of_names_is_the_one_that_is_used() -> None:
    page = (Path(__file__).parents[2] / "docs" / "score.md").read_text(encoding="utf-8")
    rows = {
        line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1] for line in page.splitlines() if "` `" in line
    }
    documented = {part: tuple(names.strip("`").split("` `")) for part, names in rows.items() if part in NAMES}
    assert documented == {part: names for part, names in NAMES.items() if len(names) > 1}
