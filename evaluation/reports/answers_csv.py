"""Write the answers of a report as CSV, one row per answer."""

from __future__ import annotations

import csv
import io

from evaluation.reports.report_data import ReportData, ReportSample

COLUMNS = (
    *("question_id", "question", "kind", "arm", "sample", "answer", "outcome", "reason", "claims", "unsupported"),
    *("support", "cited", "label"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def answers_csv(data: ReportData) -> str:
    """Return all answers as CSV with a header.

    The column support contains the support of the worst claim, and cited contains the documents, joined by "; ". A text
    that a spreadsheet would interpret as a formula gets a leading apostrophe, which spreadsheets hide (OWASP, "CSV
    Injection"). An empty cell means that the value is unknown.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for question in data.questions:
        for arm in question.arms:
            documents = {chunk.number: chunk.document_id for chunk in arm.chunks}
            for sample in arm.samples:
                cited = dict.fromkeys(documents.get(citation.number, "") for citation in sample.citations)
                unsupported = sum(v.label in ("contradicted", "unverifiable") for v in sample.verdicts)
                row = (question.id, question.text, question.kind, arm.arm, sample.sample, sample.text, sample.outcome)
                more = (sample.reason, len(sample.verdicts), unsupported, _support(sample))
                writer.writerow(map(_cell, (*row, *more, "; ".join(filter(None, cited)), sample.label)))
    return file.getvalue()


def _support(sample: ReportSample) -> str:
    known = [v.support for v in sample.verdicts if v.support is not None]
    return f"{min(known):.4f}" if known else ""


def _cell(value: object) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
