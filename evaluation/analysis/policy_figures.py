"""Effect of each policy of a run on the rates, its cost, and its rate as a function of the share answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers, labelled_answers
from evaluation.guarantee.curves import RateCurve, rate_curve
from evaluation.policy_names import ORDER
from evaluation.runs.policy_arm import policy_settings
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import PairSummary, RunSummary

CURVE_STEPS = 20
_NO_CURVE = {
    "flag": "the policy flag changes no answer, so its curve is that of the other policies",
    "abstain": "the policy abstain uses one threshold; the curve of the other policies shows all thresholds",
}


@dataclass(frozen=True, slots=True)
class PolicyFigure:
    """Figures of one policy or of several composed policies.

    policy: as given to an evaluation; ``none`` for the answers as drawn. rate: hallucinated share of the answers.
    answer_rate: share of the responses that do not decline.
    difference: share of all scored responses that hallucinate under ``none``, minus the same share under this policy,
    paired by question. answered_difference: the same difference among the answers of each. Both are None for ``none``.
    prompt_tokens, completion_tokens, seconds, judged: means per response; None if no cost was recorded. Work that
    policies share counts in each.
    curve: rate by share answered; None for the reason in ``no_curve``. left_out: number of answers that the run's
    verifier could not score and that the curve leaves out.
    """

    arm: str
    policy: str
    responses: int
    rate: HallucinationEstimate
    answer_rate: HallucinationEstimate
    difference: HallucinationEstimate | None
    answered_difference: HallucinationEstimate | None
    prompt_tokens: float | None
    completion_tokens: float | None
    seconds: float | None
    judged: float | None
    curve: RateCurve | None
    no_curve: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """Figures of all policies of a run.

    selector: name of the verifier whose scores the policies use. judge: name of the verifier that measures them.
    """

    selector: str
    judge: str
    policies: tuple[PolicyFigure, ...]


def policy_figures(
    arms: Sequence[ArmSpec], judge: str, samples: Sequence[SampleRecord], summary: RunSummary
) -> PolicyFigures | None:
    """Return the figures of a run's arms with policies and of the arms that they start from; None without policies.

    samples: samples of the headline decoding. summary: summary of the same samples.
    """
    selectors = {arm.name: found.selector for arm in arms if (found := policy_settings(arm.settings)) is not None}
    if not selectors:
        return None
    bases = {name.partition("+")[0] for name in selectors}
    pairs = {pair.other: pair for pair in summary.pairs if pair.baseline in bases}
    by_arm: dict[str, list[SampleRecord]] = {}
    for sample in samples:
        by_arm.setdefault(sample.arm, []).append(sample)
    rows = [_figure(a.name, by_arm[a.name], summary, pairs) for a in arms if a.name in {*selectors, *bases} & {*by_arm}]
    return PolicyFigures(next(iter(selectors.values())), judge, tuple(rows))


def _figure(
    name: str, samples: Sequence[SampleRecord], summary: RunSummary, pairs: Mapping[str, PairSummary]
) -> PolicyFigure:
    arm = next(a for a in summary.arms if a.arm == name)
    pair = pairs.get(name)
    policy = name.partition("+")[2] or "none"
    costs = [s.policy.cost for s in samples if s.policy is not None]

    def mean(values: Sequence[float]) -> float | None:
        return float(np.mean(values)) if values else None

    no_curve = next((_NO_CURVE[n] for n in ORDER if n in _NO_CURVE and n in _kinds(policy)), "")
    curve, left_out, missing = (None, 0, "") if no_curve else _curve(samples)
    return PolicyFigure(
        name,
        policy,
        arm.responses,
        arm.hall_answered.default,
        _complement(arm.abstained.default),
        pair.difference.default if pair else None,
        pair.answered_difference.default if pair else None,
        mean([c.prompt_tokens for c in costs]),
        mean([c.completion_tokens for c in costs]),
        mean([c.seconds for c in costs]),
        mean([c.judged for c in costs]),
        curve,
        no_curve or missing,
        left_out,
    )


def _kinds(policy: str) -> set[str]:
    return {part.partition(":")[0] for part in policy.split("+")}


def _complement(estimate: HallucinationEstimate) -> HallucinationEstimate:
    """Return the estimate of the opposite event."""
    if estimate.rate is None or estimate.lower is None or estimate.upper is None:
        return estimate
    return replace(
        estimate,
        rate=1.0 - estimate.rate,
        lower=1.0 - estimate.upper,
        upper=1.0 - estimate.lower,
        event_questions=estimate.other_questions,
        other_questions=estimate.event_questions,
    )


def _curve(samples: Sequence[SampleRecord]) -> tuple[RateCurve | None, int, str]:
    """Return the curve of each question's first sample, the number of answers left out, and why there is no curve."""
    first = [s for s in samples if s.sample == 0 and s.policy is not None]
    judged = [s for s in first if s.evaluation.outcome != "unscored"]
    left_out = len(first) - len(judged)
    scores = [s.policy.score if s.policy else None for s in judged]
    answers = labelled_answers([s.question_id for s in judged], scores, [s.evaluation.outcome for s in judged])
    thresholds = _thresholds(answers)
    if not thresholds:
        return None, left_out, "no answer that was judged has a score"
    return rate_curve(answers, thresholds), left_out, ""


def _thresholds(answers: LabelledAnswers) -> tuple[float, ...]:
    """Return at most CURVE_STEPS scores, strictest first, evenly spaced by rank. They do not depend on the verdicts."""
    usable = np.sort(answers.score[answers.score > NO_SCORE])[::-1]
    if not usable.size:
        return ()
    indexes = np.ceil(np.linspace(0.0, 1.0, CURVE_STEPS + 1)[1:] * usable.size).astype(np.intp) - 1
    return tuple(dict.fromkeys(float(usable[index]) for index in indexes))
