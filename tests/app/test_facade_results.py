"""The public API's names, errors, and representations of results as text and HTML."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

import plumbline
import plumbline_packages
from app.answering.answer_parts import Answer, Source, Timings
from app.answers import QueryRequest, QueryResult, query_request
from app.errors import AppError
from app.runs.rates_line import rates_html, rates_line
from app.settings import Settings
from data.html_table import html_table, shortened
from data.questions import Question
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.summary import summarise
from generation.completion import Completion, Usage

SOURCE = Source(1, "a<b>.txt", "", 0, 5, "five <script>\nmetres", 5, 1, 1.0, 1, 1)
RESULT = QueryResult(
    "id", QueryRequest("How deep\nis it?"), "notes", "hash", "reader", (), (SOURCE,), Timings(0.1, 0.2)
)


def test_a_text_a_question_and_a_request_are_one_kind_of_question() -> None:
    assert query_request("Why?") == QueryRequest("Why?")
    assert query_request(Question("q1", "Why?"), "notes") == QueryRequest("Why?", "notes")
    full = QueryRequest("Why?", "notes", k=2)
    assert query_request(full) is full
    assert query_request(full, "other") == QueryRequest("Why?", "other", k=2)


@pytest.mark.parametrize("blank", ["", " \n", "\u200b"])
def test_an_empty_question_is_refused_with_its_parameter(blank: str) -> None:
    with pytest.raises(AppError) as caught:
        query_request(blank)
    assert caught.value.parameter == "question"


def test_what_is_no_question_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="int"):
        query_request(7)  # type: ignore[arg-type]


def test_a_result_is_one_line_and_its_table_is_escaped() -> None:
    assert "\n" not in repr(RESULT) and "How deep is it?" in repr(RESULT)
    page = RESULT._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert RESULT.text == ""


def test_rates_in_one_line() -> None:
    records = [OutcomeRecord(str(q), arm, 0, "supported") for q in range(6) for arm in ("rag", "<oracle>")]
    summary = summarise(OutcomeTable.from_records(records))
    assert "rag" in rates_line(summary) and "\n" not in rates_line(summary)
    assert "&lt;oracle&gt;" in rates_html("run", summary)


def test_a_long_text_is_cut() -> None:
    assert shortened("a " * 80, 20).endswith("…") and len(shortened("a " * 80, 20)) <= 20
    assert html_table("<", ["&"], [["\x3ci\x3e"]]).count("<i>") == 0


def test_dir_shows_what_is_public_only() -> None:
    shown = [name for name in dir(plumbline) if not name.startswith("__")]
    assert shown == sorted(plumbline.__all__)
    assert all(hasattr(plumbline, name) for name in shown)


def test_every_error_has_one_root() -> None:
    errors = [
        found
        for name in plumbline.__all__
        if isinstance(found := getattr(plumbline, name), type) and issubclass(found, Exception)
    ]
    assert len(errors) > 10
    assert all(issubclass(error, plumbline.PlumblineError) for error in errors)


def test_no_collection_is_an_error_without_a_flag(tmp_path: Path) -> None:
    with (
        plumbline.open(Settings(home=tmp_path)) as pipeline,
        pytest.raises(plumbline.UnnamedCollectionError) as caught,
    ):
        pipeline.answer("Why?")
    assert caught.value.known == () and caught.value.parameter == "collection"
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("name", plumbline_packages.NAMES)
def test_a_foreign_module_that_was_imported_first_is_named_with_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = types.ModuleType(name)
    foreign.__file__ = str(tmp_path / f"{name}.py")
    monkeypatch.setitem(sys.modules, name, foreign)
    with pytest.raises(ImportError) as caught:
        plumbline_packages.check_loaded()
    assert caught.value.name == name and caught.value.path == str(tmp_path / f"{name}.py")
    assert str(plumbline_packages.HOME / name) in str(caught.value)


def test_hidden_modules_are_files_and_packages_but_no_mere_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.py").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("a,b\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(plumbline_packages.HOME), *sys.path])
    found = dict(plumbline_packages.hidden_modules())
    assert found == {"model": tmp_path / "model.py", "app": tmp_path / "app" / "__init__.py"}
    with pytest.warns(RuntimeWarning) as caught:
        plumbline_packages.warn_of_hidden_modules()
    assert sorted("model.py" in str(warned.message) for warned in caught) == [False, True]
    with plumbline_packages.own_packages_first():
        assert sys.path[0] == str(plumbline_packages.HOME)
    assert sys.path[0] == str(tmp_path)


@pytest.mark.drill
def test_plumbline_is_imported_beside_modules_of_its_packages_names(tmp_path: Path) -> None:
    for name in plumbline_packages.NAMES:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} of the user was imported')")
    (tmp_path / "main.py").write_text("import plumbline, model\nprint(model.__file__, len(dir(plumbline)))")
    ran = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert str(plumbline_packages.HOME / "model") in ran.stdout
    assert all(f"{name}.py" in ran.stderr for name in plumbline_packages.NAMES)


def test_an_answer_shows_its_text() -> None:
    answered = QueryResult(
        "id",
        RESULT.request,
        None,
        None,
        "m",
        (Answer(Completion("Five.", (), (), "stop", Usage(1, 1), 0)),),
        (),
        RESULT.timings,
    )
    assert answered.text == "Five." and "0 sources" in repr(answered)
