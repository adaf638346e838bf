"""Format a run's analysis as one table, for CSV, Markdown and terminals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evaluation.analysis.claim_order import ArmDrift
from evaluation.analysis.detection import ArmSignals
from evaluation.analysis.forced_run import ArmForced
from evaluation.analysis.gold_rates import GoldComparison
from evaluation.analysis.grid import GridFigures
from evaluation.analysis.retrieval_part import RetrievalPart
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.detection.intervals import LEVEL, ScoreEstimate
from evaluation.reports.analysis_view import setting_name
from evaluation.statistics.bands import Band
from evaluation.statistics.estimates import HallucinationEstimate


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """One figure of an analysis.

    part: part of the analysis, for example "grid" or "drift".
    against: name of the second arm of a difference; "" otherwise.
    quantity: display name of the figure.
    rate, lower, upper: value and limits; None if undefined.
    level: level of the limits; None without limits.
    questions, responses: sample sizes behind the figure.
    reason: why the figure is undefined or unreliable, else "".
    share: whether the figure is a share, which is shown in percent.
    """

    part: str
    arm: str
    against: str
    quantity: str
    rate: float | None
    lower: float | None
    upper: float | None
    level: float | None
    questions: int
    responses: int
    method: str
    reason: str = ""
    share: bool = True

    @property
    def shown(self) -> str:
        """Text such as "12.3 % [8.1, 17.9]" for a share, "0.812 [0.701, 0.900]" otherwise, or "undefined"."""
        if self.rate is None:
            return f"undefined ({self.reason})" if self.reason else "undefined"
        factor, form, unit = (100.0, "{:.1f}", " %") if self.share else (1.0, "{:.3f}", "")
        text = form.format(factor * self.rate) + unit
        if self.lower is not None and self.upper is not None:
            text += f" [{form.format(factor * self.lower)}, {form.format(factor * self.upper)}]"
        return text.replace("-", "−")


def analysis_rows(found: RunAnalysis) -> tuple[AnalysisRow, ...]:
    """Return all figures of the analysis, in the order of the report."""
    rows: list[AnalysisRow] = [*_grid(found.grid)] if found.grid else []
    rows += [_estimate("observed", o.arm, o.name, o.rate.default) for o in found.observed]
    for part in found.retrieval:
        rows += _retrieval(part)
    rows += [*_gold(found.gold)] if found.gold else []
    for drift in found.drift:
        rows += _drift(drift)
    for forced in found.forced:
        rows += _forced(forced)
    for arm in found.calibration:
        c, n = arm.found, (arm.found.questions, arm.found.claims)
        rows.append(_score("claim calibration", arm.arm, "error", c.error, *n))
        name = f"V <= {c.near_zero} of claims with P >= {c.high}"
        rows.append(_score("claim calibration", arm.arm, name, c.confidently_false, c.questions, c.high_claims, True))
    for signals in found.signals:
        rows += _signals(signals)
    return tuple(rows)


def analysis_markdown(found: RunAnalysis | None) -> list[str]:
    """Return the lines of a Markdown table of the analysis, with the conclusions of the drift tests.

    The result is empty without an analysis.
    """
    rows = analysis_rows(found) if found else ()
    if found is None or not rows:
        return []
    lines = ["", "| part | arm | quantity | value | questions |", "|---|---|---|---:|---:|"]
    for r in rows:
        arm = f"{r.arm} − {r.against}" if r.against else r.arm
        cells = (r.part, arm, r.quantity, r.shown, str(r.questions))
        lines.append("| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |")
    items = [f"- Drift, {d.arm}: {d.found.summary}" for d in found.drift if d.found is not None]
    return [*lines, *([""] if items else []), *items]


def _grid(grid: GridFigures) -> Iterator[AnalysisRow]:
    for i, setting in enumerate(grid.settings):
        name = setting_name(setting)
        for arm in grid.arms:
            bands = ((arm.hallucinated, "hallucinated"), (arm.answered, "hallucinated of answered"))
            for band, quantity in bands:
                yield _banded("grid", arm.arm, "", f"{quantity}, {name}", band, i, arm.questions, arm.responses[i])
        for pair in grid.pairs:
            quantity = f"hallucinated, {name}"
            yield _banded("grid difference", pair.baseline, pair.other, quantity, pair.difference, i, pair.questions, 0)


def _retrieval(part: RetrievalPart) -> Iterator[AnalysisRow]:
    for row in part.rows:
        where = "gold passage not shown" if row.rank is None else f"gold passage at position {row.rank}"
        yield _estimate("retrieval", part.arm, f"hallucinated, {where}", row.hallucinated)
    if part.faithful is not None:
        f = part.faithful
        named = (
            ("faithful and factual", f.both),
            ("faithful, not factual", f.faithful_only),
            ("factual, not faithful", f.factual_only),
            ("neither faithful nor factual", f.neither),
        )
        for name, estimate in named:
            yield _estimate("faithfulness", part.arm, name, estimate)


def _gold(comparison: GoldComparison) -> Iterator[AnalysisRow]:
    for arm in comparison.arms:
        for rate_name, rates in (("hallucinated", arm.of_all), ("hallucinated of answered", arm.of_answered)):
            yield _estimate("gold evidence", arm.arm, f"{rate_name}, own verdict", rates.own)
            yield _estimate("gold evidence", arm.arm, f"{rate_name}, fetched evidence", rates.fetched)
            yield _estimate("gold evidence", arm.arm, f"{rate_name}, gold passages", rates.gold)
            yield _estimate("gold evidence", arm.arm, f"{rate_name}, gold less fetched", rates.change)
    for pair in comparison.pairs:
        for source, estimate in (("fetched evidence", pair.fetched), ("gold passages", pair.gold)):
            row = _estimate("gold evidence", pair.baseline, f"difference, {source}", estimate)
            yield replace(row, against=pair.other)


def _drift(arm: ArmDrift) -> Iterator[AnalysisRow]:
    found = arm.found
    if found is None:
        return
    for name, test in (("order in a response is chance", found.shuffled), ("question and position", found.permuted)):
        n = (test.questions, found.responses)
        quantity = f"p, null: {name}"
        yield AnalysisRow(
            "drift", arm.arm, "", quantity, test.p_value, None, None, None, *n, "permutation", test.reason, share=False
        )
    band = found.by_position.band
    for k in range(len(band.rates)):
        n = (found.by_position.questions[k], found.by_position.responses[k])
        yield _banded("drift", arm.arm, "", f"unsupported, position {k + 1}", band, k, *n)


def _forced(arm: ArmForced) -> Iterator[AnalysisRow]:
    found = arm.found
    if found is None:
        yield AnalysisRow(
            "forced drift", arm.arm, "", "difference", None, None, None, None, 0, 0, "undefined", arm.reason
        )
        return
    rates = (
        ("unsupported after a false claim", found.after_false),
        ("unsupported after a true claim", found.after_true),
        ("unsupported after its own first claim", found.unforced),
        ("false less true", found.effect),
    )
    for name, measured in rates:
        yield _estimate("forced drift", arm.arm, name, measured.default)
    if found.test is not None:
        n = (found.questions, 0)
        quantity = "p, null: planting false or true is alike"
        yield AnalysisRow(
            "forced drift", arm.arm, "", quantity, found.test.p_value, None, None, None, *n, "sign flip", share=False
        )


def _signals(arm: ArmSignals) -> Iterator[AnalysisRow]:
    for d in arm.detectors:
        for name, estimate in (("AUROC", d.auroc), ("average precision", d.aupr), ("risk-coverage area", d.area)):
            row = _score("signals", arm.arm, f"{name}, {d.signal}", estimate, d.questions, d.questions)
            absent = "; ".join(f"{why} ({n})" for why, n in d.absent) if not d.questions else ""
            yield replace(row, reason=absent or row.reason)


def _estimate(part: str, arm: str, quantity: str, e: HallucinationEstimate) -> AnalysisRow:
    return AnalysisRow(
        part, arm, "", quantity, e.rate, e.lower, e.upper, e.level, e.questions, e.responses, e.method, e.reason
    )


def _banded(
    part: str, arm: str, against: str, quantity: str, band: Band, i: int, questions: int, responses: int
) -> AnalysisRow:
    limits = (band.rates[i], band.lower[i], band.upper[i])
    return AnalysisRow(
        part, arm, against, quantity, *limits, band.level, questions, responses, "simultaneous", band.reasons[i]
    )


def _score(
    part: str, arm: str, quantity: str, e: ScoreEstimate, questions: int, responses: int, share: bool = False
) -> AnalysisRow:
    limits = (e.estimate, e.lower, e.upper)
    level = None if e.lower is None else LEVEL
    return AnalysisRow(part, arm, "", quantity, *limits, level, questions, responses, "by question", e.reason, share)
