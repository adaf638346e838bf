"""``plumbline report`` on stored runs: comparisons, formats, plots, exports and the gate."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import plumbline
from app.cli import build_parser, main
from app.commands.evaluate import evaluate_and_report
from app.console import Output
from app.pipeline import Pipeline
from app.runs.evaluate import EvaluationPlan, evaluate
from app.settings import Settings
from data.answers import load_answers
from data.questions import Question

QUESTIONS = (
    Question("ref", "How long does the warranty last?", ("three years",)),
    Question("office", "When does the office open?", ("at nine",)),
)


@pytest.fixture
def runs(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
) -> tuple[Path, str, str, str]:
    """Home and three runs: two on the same questions with different k, and one on another question."""
    pipeline = make_pipeline(make_settings(home_copy), first_words())
    plans = [
        EvaluationPlan(QUESTIONS, ("closed_book", "rag"), "notes", samples=2, k=1),
        EvaluationPlan(QUESTIONS[:1], ("rag",), "notes", samples=1, k=2),
        EvaluationPlan((Question("new", "What?", ("x",)),), ("rag",), "notes", samples=1),
    ]
    ids = [evaluate(pipeline, plan, command="plumbline evaluate").run_id for plan in plans]
    return home_copy, ids[0], ids[1], ids[2]


def report(home: Path, *arguments: str) -> int:
    return main(["report", *arguments, "--home", str(home)])


def test_two_runs_are_compared_or_refused(runs: tuple[Path, str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    home, one, two, other = runs
    assert report(home, one, "--against", two, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (pair,) = found["summary"]["pairs"]
    assert pair["questions"] == 1 and pair["baseline"] == f"rag @{two[:8]}"
    assert any("1 questions are shared" in note for note in found["notes"])
    assert Path(found["report"]).name == f"{one}-against-{two}.html"
    assert report(home, one, "--against", other) == 1
    assert "question" in capsys.readouterr().err


def test_formats_and_plots(
    runs: tuple[Path, str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, one, _, _ = runs
    assert report(home, one, "--format", "csv", "--plots", str(tmp_path / "plots")) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["arm"] for row in rows} == {"closed_book", "rag"}
    assert {path.stem for path in (tmp_path / "plots").glob("*.svg")} == {
        *("arm-1-closed_book", "arm-2-rag", "calibration-2-rag", "difference-1-closed_book-rag", "drift-1-rag")
    }
    assert report(home, one, "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)["answers"]) == 8
    assert report(home, one, "--format", "markdown") == 0
    assert "| closed_book |" in capsys.readouterr().out


def test_every_export_is_written_and_arms_can_be_chosen(runs: tuple[Path, str, str, str], tmp_path: Path) -> None:
    home, one, _, _ = runs
    kinds = [
        part
        for kind in ("ragas", "inspect", "ragtruth", "trec", "parquet", "otlp", "otlp-logs")
        for part in ("--export", kind, f"{tmp_path}/{kind}")
    ]
    assert report(home, one, *kinds) == 0
    assert len(load_answers([tmp_path / "ragas"]).records) == 8
    assert len(load_answers([tmp_path / "inspect"]).records) == 8
    assert {r.arm for r in load_answers([tmp_path / "ragtruth"]).records} == {"rag"}
    for kind in ("parquet", "otlp"):
        records = load_answers([tmp_path / kind]).records
        assert len(records) == 8 and {r.arm for r in records} == {"closed_book", "rag"}
    assert len((tmp_path / "otlp-logs").read_text().splitlines()) == 1
    assert (tmp_path / "trec").read_text().startswith("ref Q0 ")
    assert report(home, one, "--export", "ragas", f"{tmp_path}/rag", "--arms", "rag") == 0
    assert {r.arm for r in load_answers([tmp_path / "rag"]).records} == {"rag"}


def test_the_gate_of_a_run(runs: tuple[Path, str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    home, one, _, _ = runs
    assert report(home, one, "--fail-if", "hall_closed_book.rate > 0.99") == 0
    assert report(home, one, "--fail-if", "hall_rag.upper > 0.10", "--json") == 3
    shown = capsys.readouterr()
    assert json.loads(shown.out.splitlines()[-1])["fail_if"]["failed"]
    assert "hall_rag.upper > 0.10" in shown.err
    assert report(home, one, "--fail-if", "hall_rga.upper > 0.10") == 2


@pytest.mark.parametrize(
    "arguments",
    [["--against", "x"], ["--export", "ragas", "x"], ["--fail-if", "hall_all > 1"], ["--plots", "x"]],
)
def test_what_needs_a_run_says_so(home_copy: Path, arguments: list[str]) -> None:
    assert report(home_copy, *arguments) == 2
    assert report(home_copy, "abcd", "--arms", "rag") == 2
    assert report(home_copy, "abcd", "--export", "pdf", "x") == 2


def test_responses_as_a_data_frame(runs: tuple[Path, str, str, str]) -> None:
    home, one, _, _ = runs
    with plumbline.open(plumbline.Settings(home=home)) as pipeline:
        frame = plumbline.figures(pipeline, one).to_pandas()
    assert len(frame) == 8
    assert set(frame.arm) == {"closed_book", "rag"}
    assert set(frame.outcome) <= {"hallucinated", "supported", "abstained", "unscored"}
    assert frame[frame.arm == "closed_book"].contexts.map(len).max() == 0


def test_evaluate_has_the_same_gate_and_checks_its_names_before_it_runs(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
    tmp_path: Path,
) -> None:
    from app.errors import UsageError

    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "ref", "text": "How long does the warranty last?", "references": ["three years"]}\n')

    def parsed(condition: str) -> argparse.Namespace:
        arms = ["--arms", "closed_book,rag", "--n", "1"]
        return build_parser().parse_args(["evaluate", str(file), *arms, "--fail-if", condition])

    generator = first_words()
    pipeline = make_pipeline(make_settings(home_copy), generator)
    with pytest.raises(UsageError, match="hall_closed_book"):
        evaluate_and_report(parsed("hall_all.upper > 0.1"), Output(as_json=True), pipeline, "")
    assert not generator.started.is_set()
    assert evaluate_and_report(parsed("hall_rag.upper > 0.1"), Output(as_json=True), pipeline, "") == 3
    assert evaluate_and_report(parsed("diff_closed_book_rag.upper < -1"), Output(as_json=True), pipeline, "") == 0
