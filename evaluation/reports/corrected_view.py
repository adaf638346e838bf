"""Format corrected figures for terminal, HTML, CSV and Markdown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluation.correction.agreement import Agreement
from evaluation.correction.corrected import Corrected, CorrectedArm, CorrectedRun
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.correction.label_progress import Annotator
from evaluation.reports.limits_text import limits_text
from evaluation.reports.report_view import interval, percent
from evaluation.statistics.estimates import HallucinationEstimate, undefined

METHODS = {
    "rectified": "verifier corrected by labels",
    "labels_only": "labels alone (Clopper-Pearson)",
}
NAMES = {"hallucinated": "of all responses", "answered": "of answered", "difference": "difference"}


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """One corrected figure.

    quantity: "hallucinated", "answered" or "difference".
    against: the second arm of a difference; "" for a rate.
    uncorrected: the verifier's estimate.
    headline: the corrected estimate to report, which is either ``rectified`` or ``labels_only``.
    rogan_gladen: None if it is not defined for this quantity.
    method, reason: display name of the headline's method, and why it was chosen.
    """

    quantity: str
    arm: str
    against: str
    uncorrected: HallucinationEstimate
    headline: HallucinationEstimate
    rectified: HallucinationEstimate
    labels_only: HallucinationEstimate
    rogan_gladen: HallucinationEstimate | None
    method: str
    reason: str

    @property
    def name(self) -> str:
        """Text of the first column."""
        return f"{self.arm} − {self.against}" if self.against else self.arm

    @property
    def what(self) -> str:
        """Display name of the quantity."""
        return "difference" if self.against else f"hallucinated {NAMES[self.quantity]}"


@dataclass(frozen=True, slots=True)
class CorrectedView:
    """Content of the HTML section.

    rows, arms: empty if nothing can be corrected yet.
    agreement: one line per measure of agreement.
    """

    notes: tuple[str, ...]
    rows: tuple[CorrectedRow, ...]
    arms: tuple[CorrectedArm, ...]
    annotators: tuple[Annotator, ...]
    agreement: tuple[str, ...]


def corrected_view(figures: CorrectedFigures | None) -> CorrectedView | None:
    """Return the content of the HTML section; None without labels."""
    if figures is None:
        return None
    rows = corrected_rows(figures.run) if figures.run else ()
    arms = figures.run.arms if figures.run else ()
    return CorrectedView(notes_of(figures), rows, arms, figures.annotators, agreement_lines(figures.agreement))


def corrected_rows(run: CorrectedRun) -> tuple[CorrectedRow, ...]:
    """Return the rows: rates of all responses, then rates among answers, then differences."""
    rows = [_row("hallucinated", a.arm, "", a.hallucinated, a.rogan_gladen.rate) for a in run.arms]
    rows += [_row("answered", a.arm, "", a.answered, None) for a in run.arms]
    rows += [_row("difference", p.baseline, p.other, p.difference, p.rogan_gladen) for p in run.pairs]
    return tuple(rows)


def _row(quantity: str, arm: str, against: str, c: Corrected, rg: HallucinationEstimate | None) -> CorrectedRow:
    return CorrectedRow(
        quantity,
        arm,
        against,
        c.uncorrected,
        c.estimate,
        c.rectified,
        c.labels_only,
        rg,
        METHODS[c.headline],
        c.headline_reason,
    )


def notes_of(figures: CorrectedFigures) -> tuple[str, ...]:
    """Return the notes for readers of corrected figures, one sentence each."""
    notes = []
    if figures.run is None:
        notes.append(f"Labels do not correct the rates yet: {figures.reason}.")
    else:
        notes.append(
            f"Corrected by labels of {figures.source}. Labels are human judgements and can be wrong: the corrected "
            "rate estimates the rate that such labels would give."
        )
        notes += _other_questions(figures.run)
        unsure = [a for a in figures.run.arms if a.undecided]
        if unsure:
            counts = ", ".join(f"{a.undecided} in {a.arm}" for a in unsure)
            rates = "; ".join(f"{a.arm} {figure(a.if_undecided_hallucinated)}" for a in unsure)
            notes.append(
                f"People could not judge some responses ({counts}). These count as not hallucinated. If all of them "
                f"were hallucinated, the corrected rates would be {rates}."
            )
    if 0 < figures.used < figures.wanted:
        notes.append(f"{figures.used} of the {figures.wanted} questions to be labelled are labelled.")
    if figures.ties:
        notes.append(
            f"On {figures.ties} responses annotators are evenly divided and no adjudicator has decided. They count as "
            "'cannot tell'."
        )
    return tuple(notes)


def _other_questions(run: CorrectedRun) -> list[str]:
    """Return notes on the questions behind the figures, if labels were drawn from fewer questions than the run has."""
    figures = [(a.arm, a.hallucinated) for a in run.arms]
    figures += [(f"{p.baseline} − {p.other}", p.difference) for p in run.pairs]
    other = [
        f"{name} {corrected.uncorrected.questions}, corrected {corrected.labels_only.questions}"
        for name, corrected in figures
        if corrected.uncorrected.rate is not None and corrected.uncorrected.questions != corrected.labels_only.questions
    ]
    if not other:
        return []
    return [
        "Uncorrected figures are for all questions of an arm or a pair, as in the tables above. Corrected figures are "
        f"for the questions from which labels were drawn. Numbers of questions: {'; '.join(other)}."
    ]


def agreement_lines(figures: tuple[Agreement, ...]) -> tuple[str, ...]:
    """Return one line per measure: kappa of each pair of annotators, then alpha of all annotators."""
    if not figures:
        return ()
    *pairs, alpha = figures
    kappas = [f"Cohen's kappa of {' and '.join(p.annotators)}: {_agreed(p)}" for p in pairs]
    last = f"Krippendorff's alpha of all {len(alpha.annotators)} annotators: {_agreed(alpha)}"
    return (*kappas, last)


def _agreed(found: Agreement) -> str:
    if found.value is None:
        return f"undefined ({found.reason})"
    limits = ""
    if found.lower is not None and found.upper is not None:
        limits = f" {limits_text(found.lower, found.upper, 2, scale=1.0)}"
    agreement = f", {percent(found.observed)} alike" if found.observed is not None else ""
    return f"{found.value:.2f}{limits}, {found.items} responses{agreement}" + (
        f" ({found.reason})" if found.reason else ""
    )


def corrected_json(figures: CorrectedFigures | None) -> dict[str, Any] | None:
    """Return the figures as JSON values; None without labels. An undefined number is None, never NaN."""
    return None if figures is None else dataclasses.asdict(figures)


@dataclass(frozen=True, slots=True)
class CorrectedCell:
    """One estimate of a corrected quantity, for CSV. kind: "rate" or "difference". quantity: name with the method."""

    kind: str
    arm: str
    against: str
    quantity: str
    estimate: HallucinationEstimate


def corrected_cells(figures: CorrectedFigures | None) -> Iterator[CorrectedCell]:
    """Yield all corrected estimates by all methods. The name of the headline is marked."""
    if figures is None or figures.run is None:
        return
    for row in corrected_rows(figures.run):
        kind = "difference" if row.against else "rate"
        what = "hallucinated of answered" if row.quantity == "answered" else "hallucinated"
        estimates = (
            ("corrected (headline)", row.headline),
            ("corrected by verifier and labels", row.rectified),
            ("corrected by labels alone", row.labels_only),
            ("corrected by Rogan and Gladen", row.rogan_gladen),
        )
        for name, estimate in estimates:
            if estimate is not None:
                yield CorrectedCell(kind, row.arm, row.against, f"{what}, {name}", estimate)
    for arm in figures.run.arms:
        yield CorrectedCell("rate", arm.arm, "", "sensitivity of the verifier", arm.rogan_gladen.quality.sensitivity)
        yield CorrectedCell("rate", arm.arm, "", "specificity of the verifier", arm.rogan_gladen.quality.specificity)


def corrected_markdown(figures: CorrectedFigures | None) -> list[str]:
    """Return the lines of a Markdown section; empty without labels."""
    if figures is None:
        return []
    lines = ["", "## Corrected by labels", ""]
    if figures.run is not None:
        lines += ["| figure | quantity | uncorrected | corrected | by | Rogan-Gladen |", "|---|---|---:|---:|---|---:|"]
        for row in corrected_rows(figures.run):
            signed = bool(row.against)
            shown = [figure(e, signed) for e in (row.uncorrected, row.headline)]
            rogan_gladen = "" if row.rogan_gladen is None else figure(row.rogan_gladen, signed)
            lines.append(f"| {_plain(row.name)} | {row.what} | {' | '.join(shown)} | {row.method} | {rogan_gladen} |")
        lines += ["", "| arm | labelled | hallucinated | verifier wrong | sensitivity | specificity |"]
        lines += ["|---|---:|---:|---:|---:|---:|"]
        for a in figures.run.arms:
            quality = a.rogan_gladen.quality
            lines.append(
                f"| {_plain(a.arm)} | {a.labelled} | {a.positives} | {a.disagreements} | "
                f"{figure(quality.sensitivity)} | {figure(quality.specificity)} |"
            )
        lines.append("")
    lines += [f"- {_plain(note)}" for note in (*notes_of(figures), *agreement_lines(figures.agreement))]
    return lines


def figure(estimate: HallucinationEstimate, signed: bool = False) -> str:
    """Return an estimate as text, such as "12.3 % [8.1, 17.9]" or "undefined"."""
    return f"{percent(estimate.rate, signed)} {interval(estimate, signed)}".strip()


def without_labels(level: float, reason: str = "") -> HallucinationEstimate:
    """Return a placeholder for a corrected figure that labels do not provide."""
    return undefined(level, reason or "no response is labelled")


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
