"""Assert an upper bound on the hallucination rate of scored answers, in a test suite or a release gate."""

from __future__ import annotations

from typing import Literal

from app.errors import UsageError
from app.scoring.result import ScoredAnswer, ScoreResult
from evaluation.reports.report_view import interval, percent
from evaluation.statistics.estimates import HallucinationEstimate

_SHOWN = 5


def assert_rate(
    result: ScoreResult,
    at_most: float,
    *,
    arm: str | None = None,
    of: Literal["all", "answered"] = "all",
    by: Literal["upper", "rate"] = "upper",
    unscored: Literal["count", "refuse", "ignore"] = "count",
) -> HallucinationEstimate:
    """Check a rate and return its estimate; see plumbline.assert_hallucination_rate.

    Raises AssertionError if the rate is too high or undefined, UsageError for invalid arguments.
    """
    if not 0.0 <= at_most <= 1.0:
        raise UsageError(f"at_most is {at_most}: a rate lies in [0, 1], 10 % is 0.10")
    arms = {a.arm: a for a in result.summary.arms}
    if arm is None and len(arms) > 1:
        raise UsageError(f"these are answers of {', '.join(arms)}: choose one with arm=")
    chosen = next(iter(arms)) if arm is None else arm
    if chosen not in arms:
        raise UsageError(f"there is no arm {chosen!r}: there are {', '.join(arms)}")
    summary = arms[chosen]
    answers = [a for a in result.answers if a.record.arm == chosen]
    missing = [a for a in answers if a.evaluation.outcome == "unscored"]
    if unscored == "refuse" and missing:
        raise AssertionError(f"{len(missing)} of {len(answers)} answers are unscored: {missing[0].evaluation.reason}")
    if of == "answered":
        if missing and unscored == "count":
            raise UsageError('of="answered" cannot count unscored answers: give unscored="refuse" or "ignore"')
        estimate = summary.hall_answered.default
    else:
        estimate = summary.hall_if_unscored_hallucinated if unscored == "count" else summary.headline.default
    value = estimate.upper if by == "upper" else estimate.rate
    if value is not None and value <= at_most:
        return estimate
    raise AssertionError(_message(result, answers, chosen, estimate, at_most, by, of))


def _message(
    result: ScoreResult,
    answers: list[ScoredAnswer],
    arm: str,
    estimate: HallucinationEstimate,
    at_most: float,
    by: str,
    of: str,
) -> str:
    what = "upper limit" if by == "upper" else "rate"
    among = "answered" if of == "answered" else "all"
    counted = f"{estimate.responses} responses to {estimate.questions} questions"
    if estimate.rate is None:
        head = (
            f"the hallucination rate of {arm} is undefined ({estimate.reason}), so it is not shown to be at "
            f"most {at_most:.1%}"
        )
    else:
        head = (
            f"hallucination rate of {arm} ({among}, {result.measure}): {percent(estimate.rate)} {interval(estimate)} "
            f"at level {estimate.level:g}, {counted}; its {what} is above {at_most:.1%}"
        )
    bad = [a for a in answers if a.evaluation.outcome in ("hallucinated", "unscored")]
    bad.sort(key=lambda a: (a.support is None, a.support or 0.0))
    lines = [head, *(_line(a) for a in bad[:_SHOWN])]
    if len(bad) > _SHOWN:
        lines.append(f"  ... and {len(bad) - _SHOWN} more")
    return "\n".join(lines)


def _line(answer: ScoredAnswer) -> str:
    if answer.evaluation.outcome == "unscored":
        summary = f"unscored, {answer.evaluation.reason}"
    else:
        claims = "; ".join(repr(v.claim.text[:120]) for v in answer.unsupported[:2])
        summary = f"support {answer.support or 0.0:.2f}, unsupported: {claims}"
    return f"  {answer.record.id}: {answer.record.question[:80]!r}: {summary}"
