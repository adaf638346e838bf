"""Answers as CSV: one row an answer, texts whole, nothing that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io

from evaluation.outcomes import Claim, Verdict
from evaluation.reports.answers_csv import COLUMNS, answers_csv
from evaluation.reports.report_data import ReportArm, ReportChunk, ReportData, ReportQuestion, ReportSample, RunConfig
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.summary import summarise
from generation.completion import Citation

TEXT = '=HYPERLINK("x") says\nthe "quay", [1]'


def report() -> ReportData:
    claims = (Claim("a", 0, 1), Claim("b", 2, 3))
    verdicts = (
        Verdict(claims[0], "supported", 0.75, "", (), "v"),
        Verdict(claims[1], "contradicted", 0.25, "", (), "v"),
    )
    samples = (
        ReportSample(
            0, TEXT, "hallucinated", 7, verdicts=verdicts, citations=(Citation(1, 30, 33), Citation(1, 30, 33))
        ),
        ReportSample(1, "", "unscored", 8, reason="the model failed"),
    )
    chunks = (ReportChunk(1, "quay.md", "", 0, 5, "quay", 1, 1.0),)
    questions = (ReportQuestion("q-1", "-2 or more?", "number", True, ("x",), (ReportArm("rag", samples, chunks),)),)
    records = [OutcomeRecord("q-1", "rag", s.sample, s.outcome) for s in samples]
    config = RunConfig("t", "2026-11-20T10:00:00", "", None, None)
    return ReportData(config, summarise(OutcomeTable.from_records(records)), questions)


def test_every_answer_is_a_row() -> None:
    rows = list(csv.DictReader(io.StringIO(answers_csv(report()))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["outcome"] for row in rows] == ["hallucinated", "unscored"]
    assert (rows[0]["claims"], rows[0]["unsupported"], rows[0]["support"]) == ("2", "1", "0.2500")
    assert rows[0]["cited"] == "quay.md"
    assert (rows[1]["answer"], rows[1]["reason"], rows[1]["support"]) == ("", "the model failed", "")


def test_no_cell_is_a_formula() -> None:
    row = next(csv.DictReader(io.StringIO(answers_csv(report()))))
    assert row["answer"] == "'" + TEXT
    assert row["question"] == "'-2 or more?"
