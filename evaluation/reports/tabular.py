"""Format a report's figures as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluation.outcomes import OUTCOMES
from evaluation.reports.analysis_tables import analysis_markdown, analysis_rows
from evaluation.reports.claim_figures import ArmClaims, claims_of
from evaluation.reports.corrected_view import CorrectedCell, corrected_cells, corrected_json, corrected_markdown
from evaluation.reports.first_screen import first_screen
from evaluation.reports.policy_view import policies_json, policy_markdown, policy_rows
from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import interval, left_out_text, p_value, percent
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import RunSummary

CSV_COLUMNS = (
    *("kind", "arm", "against", "quantity", "rate", "lower", "upper", "level", "questions", "responses", "method"),
    *("reliable", "reason"),
)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure. kind: "rate" of an arm, or "difference" of arm (the baseline) minus against."""

    kind: str
    arm: str
    against: str
    quantity: str
    estimate: HallucinationEstimate


def figure_rows(summary: RunSummary) -> Iterator[FigureRow]:
    """Yield all rates of all arms, then all differences, with their default intervals."""
    for a in summary.arms:
        rates = zip(OUTCOMES, (a.hallucinated, a.supported, a.abstained, a.unscored), strict=True)
        for outcome, measured in rates:
            yield FigureRow("rate", a.arm, "", outcome, measured.default)
        yield FigureRow("rate", a.arm, "", "hallucinated of answered", a.hall_answered.default)
        yield FigureRow("rate", a.arm, "", "hallucinated of scored", a.hall_scored.default)
        yield FigureRow("rate", a.arm, "", "hallucinated if unscored were", a.hall_if_unscored_hallucinated)
    for p in summary.pairs:
        yield FigureRow("difference", p.baseline, p.other, "hallucinated", p.difference.default)
        yield FigureRow("difference", p.baseline, p.other, "fixed", p.fixed.default)
        yield FigureRow("difference", p.baseline, p.other, "broken", p.broken.default)
        yield FigureRow("difference", p.baseline, p.other, "hallucinated of answered", p.answered_difference.default)


def claim_rows(claims: tuple[ArmClaims, ...]) -> Iterator[FigureRow]:
    """Yield the secondary figures of each arm: its share of unsupported claims, and its mean of 1 - V."""
    for c in claims:
        yield FigureRow("rate", c.arm, "", "unsupported claims", c.unsupported)
        yield FigureRow("rate", c.arm, "", "soft", c.soft)


def as_csv(data: ReportData) -> str:
    """Return the figures as CSV with a header. An undefined figure has empty cells and its reason."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    rows: list[FigureRow | CorrectedCell] = [
        *figure_rows(data.summary),
        *claim_rows(claims_of(data)),
        *corrected_cells(data.corrected),
    ]
    for row in rows:
        e = row.estimate
        numbers = ["" if v is None else repr(v) for v in (e.rate, e.lower, e.upper)]
        head = (row.kind, row.arm, row.against, row.quantity, *numbers)
        rest = (e.questions, e.responses, e.method, str(e.reliable).lower(), e.reason)
        writer.writerow((*head, repr(e.level), *rest))
    further = analysis_rows(data.analysis) if data.analysis else ()
    for found in (*further, *policy_rows(data.policies)):
        numbers = ["" if v is None else repr(v) for v in (found.rate, found.lower, found.upper, found.level)]
        head = (found.part, found.arm, found.against, found.quantity, *numbers)
        # No rule flags few events in these rows. A figure with a reason is not reliable.
        reliable = str(not found.reason).lower()
        writer.writerow((*head, found.questions, found.responses, found.method, reliable, found.reason))
    return file.getvalue()


def as_json(data: ReportData) -> dict[str, Any]:
    """Return settings, summary, notes and all answers as JSON values. An undefined number is None, never NaN."""
    return {
        "title": data.config.title,
        "first_screen": first_screen(data).to_json(),
        "created": data.config.created,
        "command": data.config.command,
        "settings": {s.title: dict(s.entries) for s in data.config.sections},
        "comparison": data.comparison,
        "summary": data.summary.to_json(),
        "claims": [dataclasses.asdict(arm) for arm in claims_of(data)],
        "entailment": dataclasses.asdict(data.entailment) if data.entailment else None,
        "corrected": corrected_json(data.corrected),
        "analysis": data.analysis.to_json() if data.analysis else None,
        "policies": policies_json(data.policies),
        "notes": list(data.notes),
        "answers": [
            {
                "question_id": q.id,
                "question": q.text,
                "kind": q.kind,
                "arm": a.arm,
                "sample": s.sample,
                "asked": a.question_text or q.text,
                "answer": s.text,
                "outcome": s.outcome,
                "reason": s.reason,
                "verdicts": [
                    {"start": v.claim.start, "end": v.claim.end, "label": v.label, "support": v.support}
                    for v in s.verdicts
                ],
            }
            for q in data.questions
            for a in q.arms
            for s in a.samples
        ],
    }


def as_markdown(data: ReportData) -> str:
    """Return a Markdown document with tables of rates and differences, notes, and the command that repeats the run."""
    level = f"{100 * data.summary.settings.level:g} %"
    screen = first_screen(data)
    lines = [f"# {_cell(data.config.title)}", "", "| measured | |", "|---|---|"]
    lines += [f"| {_cell(name)} | {_cell(value)} |" for name, value in screen.measured]
    lines += ["", f"**{_cell(screen.headline)}** {_cell(screen.comparison)}".rstrip(), ""]
    if screen.next_steps:
        steps = (f"{number}. {_cell(step.text)}" for number, step in enumerate(screen.next_steps, start=1))
        lines += ["What to do next:", "", *steps, ""]
    lines += [f"{level} intervals, clustered by question.", ""]
    lines += ["| arm | " + " | ".join(OUTCOMES) + " | of answered | questions | responses |"]
    lines += ["|---" + "|---:" * (len(OUTCOMES) + 3) + "|"]
    for a in data.summary.arms:
        rates = (a.hallucinated, a.supported, a.abstained, a.unscored, a.hall_answered)
        shown = " | ".join(_figure(m.default) for m in rates)
        lines.append(f"| {_cell(a.arm)} | {shown} | {a.questions} | {a.responses} |")
    lines += ["", *(f"- {_cell(word)}: {_cell(meaning)}" for word, meaning in screen.terms)]
    if data.summary.pairs:
        lines += ["", "| pair | difference | fixed | broken | questions | p (Holm) |", "|---" + "|---:" * 5 + "|"]
        for p in data.summary.pairs:
            figures = (p.difference.default, True), (p.fixed.default, False), (p.broken.default, False)
            shown = " | ".join(_figure(estimate, signed) for estimate, signed in figures)
            compared = "; ".join((str(p.questions), *left_out_text(p)))
            lines.append(f"| {_cell(p.baseline)} − {_cell(p.other)} | {shown} | {compared} | {p_value(p.p_holm)} |")
    if claims := claims_of(data):
        lines += [
            "",
            "| arm | claims per response | unsupported claims | soft (mean of 1 - V) |",
            "|---" + "|---:" * 3 + "|",
        ]
        for c in claims:
            rate = "undefined" if c.per_response is None else f"{c.per_response:.2f}"
            lines.append(f"| {_cell(c.arm)} | {rate} | {_figure(c.unsupported)} | {_figure(c.soft)} |")
    lines += corrected_markdown(data.corrected)
    lines += policy_markdown(data.policies, _figure, _cell)
    lines += analysis_markdown(data.analysis)
    lines += ["", *(f"- {' '.join(note.split())}" for note in data.notes)]
    lines += ["", "```", *data.config.command.replace("```", "'''").splitlines(), "```", ""]
    return "\n".join(lines)


def _figure(estimate: HallucinationEstimate, signed: bool = False) -> str:
    if estimate.rate is None:
        return f"undefined ({_cell(estimate.reason)})"
    return f"{percent(estimate.rate, signed)} {interval(estimate, signed)}".strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
