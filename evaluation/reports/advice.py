"""Suggest next steps for what limits a report most: unscored answers, search, model, number of questions, labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import percent
from evaluation.reports.terms import counted
from evaluation.statistics.run_summary import ArmSummary
from evaluation.verifiers.verifier import FAILED

Action = Literal["retry", "label", "plan", "tune", "model", "read"]
"""Kinds of advice, to each of which a front end adds its command or link.

retry: draw failed samples again. label: label answers. plan: plan a larger run. tune: tune the search. model: choose
another model or prompt. read: read the answers.
"""
MOST_ADVICE = 3
_WIDE = 0.05
_GAP = 0.05
_UNSCORED = 0.05


@dataclass(frozen=True, slots=True)
class Advice:
    """One suggested next step. action: kind of the step."""

    text: str
    action: Action


def advice_for(data: ReportData, main: ArmSummary) -> tuple[Advice, ...]:
    """Return the next steps, the most important first.

    main: summary of the arm in the headline.
    """
    return tuple(
        found for found in (_unscored(data), _search(data), _model(data), _width(data, main), _labels(data)) if found
    )


def _unscored(data: ReportData) -> Advice | None:
    arms = [arm for arm in data.summary.arms if (arm.unscored.default.rate or 0.0) > _UNSCORED]
    if not arms:
        return None
    names = {arm.arm for arm in arms}
    reasons = Counter(
        s.reason for q in data.questions for a in q.arms if a.arm in names for s in a.samples if s.outcome == "unscored"
    )
    count = sum(reasons.values())
    reason = reasons.most_common(1)[0][0] if reasons else ""
    why = f", most of them because: {reason}" if reason and count > 1 else f", because: {reason}" if reason else ""
    text = f"{counted(count, 'answer')} of {', '.join(sorted(names))} {'is' if count == 1 else 'are'} unscored{why}."
    return Advice(text, "retry" if FAILED in reason else "read")


def _search(data: ReportData) -> Advice | None:
    """Return advice if the run shows that other passages would lower the rate, else None."""
    pair = next((p for p in data.summary.pairs if (p.baseline, p.other) == ("rag", "oracle")), None)
    found = pair.difference.default if pair else None
    if found is None or found.rate is None or found.lower is None or found.lower <= 0 or found.rate <= _GAP:
        return None
    return Advice(
        f"With the passages that contain the answer, the model hallucinates {100 * found.rate:.1f} points less. Better "
        "search would lower the rate.",
        "tune",
    )


def _model(data: ReportData) -> Advice | None:
    """Return advice if the run shows that the right passages alone do not help, else None."""
    oracle = next((arm.headline.default for arm in data.summary.arms if arm.arm == "oracle"), None)
    if oracle is None or oracle.lower is None or oracle.lower <= _GAP:
        return None
    return Advice(
        f"Even with the passages that contain the answer, {percent(oracle.rate)} of the answers are hallucinated. "
        "Better search is not enough: try another model or prompt.",
        "model",
    )


def _width(data: ReportData, main: ArmSummary) -> Advice | None:
    estimate = main.headline.default
    if estimate.lower is None or estimate.upper is None or (estimate.upper - estimate.lower) / 2 <= _WIDE:
        return None
    half = 100 * (estimate.upper - estimate.lower) / 2
    questions = counted(main.questions, "question")
    return Advice(f"With {questions} the rate is uncertain by ±{half:.0f} points. Add more questions.", "plan")


def _labels(data: ReportData) -> Advice | None:
    if data.corrected is not None and data.corrected.run is not None:
        return None
    if data.scored is not None:
        return (
            None
            if data.scored.labelled
            else Advice("The verifier's error rate is unknown. Label some answers.", "read")
        )
    return Advice("The verifier's error rate is unknown. Label a random sample of the answers.", "label")
