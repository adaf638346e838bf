import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.blank import is_blank
from data.errors import DataError
from data.loaders import load_question_files, load_questions
from data.plain_values import MISSING_TEXTS
from data.question_json import question_from_fields, question_to_fields
from data.questions import EvidenceSpan, Question


def write(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_all_fields_and_the_other_names(tmp_path: Path) -> None:
    path = write(
        tmp_path / "q.jsonl",
        {
            "id": "1",
            "text": "Who?",
            "references": ["A", "B"],
            "relevant_document_ids": ["d"],
            "answerable": True,
            "kind": "one_fact",
            "evidence": [{"document_id": "d", "start": 0, "end": 3}],
            "note": "not looked at",
        },
        {"id": 2, "question": "What?", "answers": ["C"]},
        {"id": "3", "text": "When?", "answerable": False},
    )
    assert load_questions(path) == (
        Question("1", "Who?", ("A", "B"), ("d",), True, "one_fact", (EvidenceSpan("d", 0, 3),)),
        Question("2", "What?", ("C",)),
        Question("3", "When?", answerable=False),
    )


def test_every_problem_is_listed_with_its_line_up_to_ten(tmp_path: Path) -> None:
    bad: list[tuple[object, str]] = [
        ("{", "not JSON"),
        ("[]", "a list, it must be an object"),
        ({"text": "no id"}, 'no "id"'),
        ({"id": "a"}, 'no "text" or "question"'),
        ({"id": "b", "text": "  "}, "has no text"),
        ({"id": "c", "text": "x", "references": "A"}, '"references" is text, it must be a list'),
        ({"id": "d", "text": "x", "references": [1]}, '"references[0]" is a number'),
        ({"id": "e", "text": "x", "answers": [""]}, '"answers[0]" is empty'),
        ({"id": "f", "text": "x", "answerable": "no"}, '"answerable" is text'),
        ({"id": "g", "text": "x", "answerable": False, "references": ["A"]}, "unanswerable but has"),
        ({"id": "h", "text": "x", "evidence": [{"document_id": "d", "start": 3, "end": 3}]}, "evidence span [3, 3)"),
        ({"id": "i", "text": "x", "evidence": [{"document_id": "d", "start": 1.0, "end": 3}]}, "evidence[0].start"),
        ({"id": "j", "text": "x", "evidence": [{"start": 1, "end": 3}]}, "evidence[0].document_id"),
        ({"id": "k", "text": "x", "evidence": [1]}, '"evidence[0]" is a number'),
        ({"id": "l", "text": "x", "refrences": ["A"]}, 'is "references" meant?'),
        ({"id": "m", "text": "x", "question": "y"}, "differ"),
        ({"id": "n", "text": "x", "references": ["A"], "answers": ["B"]}, "differ"),
        ({"id": "o", "text": "x", "kind": 1}, '"kind" is a number'),
        ({"id": "ok", "text": "twice"}, "the id 'ok' was already used at"),
        ('{"id": "p", "text": "\\ud800"}', "surrogate"),
    ]
    good = {"id": "ok", "text": "x"}
    for line, says in bad:  # each bad line, with its number
        path = write(tmp_path / "q.jsonl", good, line)
        with pytest.raises(DataError) as caught:
            load_questions(path)
        assert f"{path}:2: " in str(caught.value)
        assert says in str(caught.value), line
    path = write(tmp_path / "q.jsonl", good, *(line for line, _ in bad))
    with pytest.raises(DataError, match="nothing was loaded") as caught:
        load_questions(path)
    shown = str(caught.value).splitlines()
    assert shown[0].startswith("20 problems")
    assert [line.split(":")[1] for line in shown[1:11]] == [str(i) for i in range(2, 12)]
    assert shown[11:] == ["  and 10 more"]


def test_files_without_a_question_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"q\.jsonl"):
        load_questions(tmp_path / "q.jsonl")
    with pytest.raises(DataError, match="does not exist"):
        load_questions(Path("nul\0"))
    with pytest.raises(DataError, match="no file"):
        load_question_files([])
    for content in ("", "\n\n"):
        (tmp_path / "q.jsonl").write_text(content)
        with pytest.raises(DataError, match=r"1 problem in .*q\.jsonl: the file is empty|is empty"):
            load_questions(tmp_path / "q.jsonl")
    with pytest.raises(DataError, match=r"no queries\.jsonl"):
        load_questions(tmp_path)


def test_several_files_are_one_set_with_one_namespace(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"id": "1", "text": "x"})
    b = write(tmp_path / "b.jsonl", {"id": "2", "text": "y"})
    assert [question.id for question in load_question_files([b, a])] == ["2", "1"]
    c = write(tmp_path / "c.jsonl", {"id": "3", "text": "z"}, {"id": "1", "text": "other"})
    with pytest.raises(DataError) as caught:
        load_question_files([a, c])
    assert f"{c}:2" in str(caught.value)
    assert f"{a}:1" in str(caught.value)


def beir(folder: Path, qrels: str) -> Path:
    write(
        folder / "queries.jsonl",
        {"_id": "Q1", "text": "one", "metadata": {}},
        {"_id": "Q2", "text": "two"},
        {"_id": "Q3", "text": "of another split"},
        {"_id": "Q4", "text": "nothing relevant"},
    )
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def test_a_beir_folder(tmp_path: Path) -> None:
    folder = beir(
        tmp_path, "query-id\tcorpus-id\tscore\nQ2\td9\t1\r\nQ1\td1\t2\nQ1\td0\t0\nQ1\td2\t1\nQ1\td1\t2\nQ4\td1\t0\n\n"
    )
    assert load_questions(folder) == (
        Question("Q1", "one", relevant_document_ids=("d1", "d2")),
        Question("Q2", "two", relevant_document_ids=("d9",)),
        Question("Q4", "nothing relevant"),
    )


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("query-id\tcorpus-id\tscore\nQ1 d1 1\n", "test.tsv:2: 1 cells"),
        ("Q1\td1\tyes\n", "test.tsv:1: the grade 'yes'"),
        ("Q1\td1\t1\nQ9\td1\t1\n", "test.tsv:2: the query 'Q9' is not in queries.jsonl"),
        ("Q1\t\t1\n", "test.tsv:1: 3 cells"),
        ("query-id\tcorpus-id\tscore\n", "contains no questions"),
    ],
)
def test_bad_judgements(tmp_path: Path, qrels: str, says: str) -> None:
    with pytest.raises(DataError) as caught:
        load_questions(beir(tmp_path, qrels))
    assert says in str(caught.value)


def test_missing_judgements_and_wrong_encoding(tmp_path: Path) -> None:
    folder = beir(tmp_path, "")
    (folder / "qrels/test.tsv").write_bytes(b"Q1\td\xe9\t1\n")
    with pytest.raises(DataError, match=r"test\.tsv:1.*UTF-8"):
        load_questions(folder)
    (folder / "qrels/test.tsv").unlink()
    with pytest.raises(DataError, match=r"test\.tsv"):
        load_questions(folder)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
    lambda text: not is_blank(text) and text.strip() not in MISSING_TEXTS
)
spans = st.tuples(texts, st.integers(0, 99), st.integers(1, 99)).map(lambda t: EvidenceSpan(t[0], t[1], t[1] + t[2]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.builds(
            Question,
            id=texts,
            text=texts,
            references=st.lists(texts, max_size=3).map(tuple),
            relevant_document_ids=st.lists(texts, max_size=2).map(tuple),
            answerable=st.just(True),
            kind=st.sampled_from(["", "list"]),
            evidence=st.lists(spans, max_size=2).map(tuple),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda question: question.id,
    )
)
def test_questions_survive_writing_and_reading(tmp_path: Path, questions: list[Question]) -> None:
    path = write(tmp_path / "q.jsonl", *(question_to_fields(question) for question in questions))
    assert load_questions(path) == tuple(questions)
    assert question_from_fields(question_to_fields(questions[0])) == questions[0]
