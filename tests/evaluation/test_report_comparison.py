"""Two runs against each other: only what both have is compared, and what the difference may come from is said."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim, Outcome, Verdict
from evaluation.reports.comparison import compare_runs
from evaluation.reports.entailment_figures import entailment_figures
from evaluation.reports.plot_files import plots, write_plots
from evaluation.reports.report import render_report
from evaluation.reports.report_data import (
    ConfigSection,
    ReportArm,
    ReportData,
    ReportQuestion,
    ReportSample,
    RunConfig,
    ScoredFigures,
)
from evaluation.reports.tabular import CSV_COLUMNS, as_csv, as_json, as_markdown, figure_rows
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise

HOSTILE = "</style><script>alert(1)</script>&\"'|{{ 7*7 }}\x00"
LETTERS: Mapping[str, Outcome] = {"h": "hallucinated", "s": "supported", "a": "abstained", "u": "unscored"}


def shown(text: str, outcome: Outcome, entailed: bool) -> ReportSample:
    support = 0.9 if outcome == "supported" else 0.2
    verdict = Verdict(
        Claim(text, 0, len(text)), "supported" if outcome == "supported" else "unverifiable", support, "", (), "v"
    )
    return ReportSample(0, text, outcome, None, verdicts=(verdict,) if entailed else (), label="hallucinated")


def run(name: str = "run", verifier: str = "v/1", entailed: bool = False, **arms: str) -> ReportData:
    """A run whose questions 0, 1, ... end as the letters say, "-" for a question that it does not have."""
    records = [
        OutcomeRecord(str(i), arm, 0, LETTERS[c]) for arm, row in arms.items() for i, c in enumerate(row) if c != "-"
    ]
    ids = sorted({r.question_id for r in records}, key=int)
    questions = tuple(
        ReportQuestion(
            i,
            f"question {i}",
            "",
            True,
            ("yes",),
            tuple(ReportArm(r.arm, (shown("An answer.", r.outcome, entailed),)) for r in records if r.question_id == i),
            entailed,
        )
        for i in ids
    )
    summary = summarise(OutcomeTable.from_records(records), settings=Settings(bootstrap=100, permutations=99))
    sections = (ConfigSection("Run", (("run", name), ("verifier", verifier), ("seed", "1"))),)
    config = RunConfig(name, "2026-01-02T03:04:05Z", f"plumbline evaluate {name}", None, None, sections)
    figures = entailment_figures(questions, list(arms), 0.5) if entailed else None
    return ReportData(config, summary, questions, (), figures)


def test_shared_questions_and_arms_are_compared_as_pairs() -> None:
    new = run(rag="ssh-s", oracle="sss-s")
    old = run("old", rag="hhhh-", closed_book="hhhh-")
    data = compare_runs(new, old, "new", "old")
    assert [a.arm for a in data.summary.arms] == ["rag @old", "rag @new"]
    (pair,) = data.summary.pairs
    assert (pair.baseline, pair.other, pair.questions, pair.left_out) == ("rag @old", "rag @new", 3, 0)
    assert pair.difference.default.rate == pytest.approx(2 / 3)
    assert (pair.fixed_questions, pair.broken_questions) == (2.0, 0.0)
    assert re.search(r"3 questions .*1 .*only in new.*1 only in old", data.notes[0])


def test_what_differs_is_said_and_another_verifier_is_a_warning() -> None:
    notes = compare_runs(run(rag="sh"), run("old", "v/2", rag="hh"), "new", "old").notes
    assert any("verifier: v/2 → v/1" in note for note in notes)
    assert any("judged differently" in note for note in notes)
    same = compare_runs(run(rag="sh"), run("old", rag="hh"), "new", "old").notes
    assert "The two runs have the same settings." in same


def test_runs_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"a and b.*question"):
        compare_runs(run(rag="s-"), run(rag="-h"), "a", "b")
    reworded = run(rag="sh")
    reworded = replace(reworded, questions=tuple(replace(q, text="other") for q in reworded.questions))
    with pytest.raises(EvaluationError, match="2 questions have the same ID"):
        compare_runs(run(rag="sh"), reworded, "a", "b")
    with pytest.raises(EvaluationError, match=r"arm.*rag, oracle.*closed_book"):
        compare_runs(run(rag="s", oracle="s"), run(closed_book="s"), "a", "b")
    one_each = compare_runs(run(rag="s"), run(closed_book="h"), "a", "b")
    assert one_each.summary.pairs[0].baseline == "closed_book @b"


def test_a_comparison_is_a_page_like_any_other() -> None:
    data = compare_runs(run(entailed=True, rag="shs"), run("old", entailed=True, rag="hha"), "new", "old")
    page = render_report(data)
    assert "rag @old − rag @new" in page and "3 questions are shared" in page
    assert data.entailment is not None and data.entailment.arms == ("rag @old", "rag @new")


def test_the_tables_hold_the_summarys_figures() -> None:
    data = run(closed_book="hhsa", rag="ssuu")
    rows = list(csv.DictReader(io.StringIO(as_csv(data))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert len(rows) == len(list(figure_rows(data.summary))) + 2 * 2 == 2 * 9 + 4
    first = next(r for r in rows if r["arm"] == "closed_book" and r["quantity"] == "hallucinated")
    assert float(first["rate"]) == 0.5 and float(first["lower"]) < 0.5 < float(first["upper"])
    difference = next(r for r in rows if r["kind"] == "difference" and r["quantity"] == "hallucinated")
    assert (difference["against"], float(difference["rate"])) == ("rag", 1.0)  # two of four pairs are scored
    undefined = list(csv.DictReader(io.StringIO(as_csv(run(rag="aa")))))
    of_answered = next(r for r in undefined if r["quantity"] == "hallucinated of answered")
    assert (of_answered["rate"], of_answered["lower"]) == ("", "") and of_answered["reason"]
    document = json.loads(json.dumps(as_json(data), allow_nan=False))
    assert document["summary"]["arms"][0]["hallucinated"]["default"]["rate"] == 0.5
    assert len(document["answers"]) == 8


def test_markdown_is_a_table_whatever_an_arm_is_called() -> None:
    data = run(**{"closed_book": "hs", "rag | x": "sh"})
    text = as_markdown(data)
    lines = [line for line in text.splitlines() if line.startswith("| rag")]
    assert lines[0].replace("\\|", "").count("|") == next(
        line for line in text.splitlines() if line.startswith("| arm |")
    ).count("|")
    assert "50.0 %" in lines[0]


def test_plots_are_svg_that_any_reader_parses(tmp_path: Path) -> None:
    data = run(entailed=True, **{"closed_book": "hhsa", HOSTILE: "sshu"})
    data = replace(
        data,
        summary=summarise(
            OutcomeTable.from_records(
                OutcomeRecord(q.id, a.arm, s.sample, s.outcome)
                for q in data.questions
                for a in q.arms
                for s in a.samples
            ),
            settings=Settings(bootstrap=100, permutations=99),
        ),
    )
    drawn = plots(data)
    assert sum(name.startswith("arm-") for name in drawn) == 2
    assert sum(name.startswith("difference-") for name in drawn) == 1 and "threshold.svg" in drawn
    for text in drawn.values():
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not root.findall(".//{http://www.w3.org/2000/svg}script")
    assert all(path.is_file() for path in write_plots(tmp_path / "plots", data))
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match="write"):
        write_plots(tmp_path / "file", data)


def test_the_page_of_scored_answers_says_what_was_measured() -> None:
    data = replace(run(entailed=True, a="sh"), scored=ScoredFigures("faithfulness", "contexts", 2))
    page = render_report(data)
    assert "The rates measure faithfulness" in page and "trusted collection" not in page and "· seed" not in page
    assert "labelled hallucinated" in page and 'id="arm"' in page and "Collections" not in page
    facts = render_report(replace(data, scored=ScoredFigures("factuality", "references")))
    assert "The rates measure factuality by the references" in facts
