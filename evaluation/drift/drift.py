"""Observed drift: tests of two null hypotheses, position curves, and a cautious conclusion as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.drift.nulls import NullTest, permute_across, shuffle_within
from evaluation.drift.positions import (
    PositionCurve,
    PositionTrend,
    first_unsupported,
    never_unsupported,
    position_trend,
    unsupported_by_position,
)
from evaluation.drift.sequences import ClaimSequence, to_arrays
from evaluation.statistics.measure import Resampler, Settings

Reading = Literal["dependence", "positions", "levels", "none", "untested"]
ALPHA = 0.05
PERMUTATIONS = 999

NOT_CONTAGION = (
    "This is dependence, not contagion: it does not show that one unsupported claim causes the next. The same pattern "
    "arises from (1) a position trend: claims later in a response, or at certain positions in it, are harder; (2) "
    "neighbouring topics of equal difficulty: claims next to each other are about the same thing, and the model knows "
    "it or does not; (3) a verifier whose errors depend on earlier claims. Only a forced first claim can tell "
    "these from an effect of the previous claim."
)


@dataclass(frozen=True, slots=True)
class Drift:
    """Result of measuring drift.

    shuffled: test of null 1, the order within a response is random. permuted: test of null 2, question and position
    explain the order.
    reading: "dependence" if both tests reject at 5 % in the same direction; "positions" if only null 1 is rejected, or
    both in opposite directions; "levels" if only null 2 is rejected; "none"; "untested" if one cannot be tested.
    p_both: larger of the two p-values, which tests both hypotheses together; None if one cannot be tested.
    summary: conclusion as text.
    never_unsupported: share of responses without an unsupported claim up to each position.
    """

    questions: int
    responses: int
    claims: int
    unsupported: int
    unscored: int
    shuffled: NullTest
    permuted: NullTest
    p_both: float | None
    reading: Reading
    summary: str
    by_position: PositionCurve
    first: PositionCurve
    never_unsupported: tuple[float | None, ...]
    trend: PositionTrend

    def to_json(self) -> dict[str, Any]:
        """Return nested dicts, lists, numbers, strings and None."""
        result: dict[str, Any] = dataclasses.asdict(self)
        return result


def drift(
    responses: Sequence[ClaimSequence], settings: Settings | None = None, permutations: int = PERMUTATIONS
) -> Drift:
    """Measure dependence between neighbouring claims. The verifier must not see earlier claims.

    Raises EvaluationError if no response has a claim.
    """
    settings = settings or Settings()
    sequences = to_arrays(responses)
    resampler = Resampler(settings)
    shuffled = shuffle_within(sequences, permutations, settings.seed)
    permuted = permute_across(sequences, permutations, settings.seed)
    first = first_unsupported(sequences, resampler)
    trend = position_trend(sequences, resampler)
    reading = joint_reading(shuffled, permuted)
    both = None
    if shuffled.p_value is not None and permuted.p_value is not None:
        both = max(shuffled.p_value, permuted.p_value)
    return Drift(
        sequences.questions,
        len(sequences.question),
        int(sequences.length.sum()),
        int(sequences.unsupported.sum()),
        int(sequences.length.sum() - sequences.scored.sum()),
        shuffled,
        permuted,
        both,
        reading,
        summarise_reading(reading, shuffled, permuted, trend),
        unsupported_by_position(sequences, resampler),
        first,
        never_unsupported(first),
        trend,
    )


def joint_reading(shuffled: NullTest, permuted: NullTest) -> Reading:
    """Return the joint conclusion of the two tests. If one cannot be tested, the other is not interpreted alone."""
    if shuffled.p_value is None or permuted.p_value is None:
        return "untested"
    one, two = shuffled.p_value <= ALPHA, permuted.p_value <= ALPHA
    if one and two and shuffled.excess * permuted.excess > 0:
        return "dependence"
    if one:
        return "positions"
    return "levels" if two else "none"


def summarise_reading(reading: Reading, shuffled: NullTest, permuted: NullTest, trend: PositionTrend) -> str:
    """Describe the conclusion as text, with the alternative explanations."""
    if reading == "untested":
        return f"Dependence cannot be tested: {shuffled.reason or permuted.reason}."
    found = f"(p = {shuffled.p_value:.3g} against order by chance, p = {permuted.p_value:.3g} against position)"
    direction = "more" if shuffled.excess > 0 else "less"
    if reading == "none":
        return f"Neighbouring claims are not seen to depend on each other {found}. That is not proof that they do not."
    if reading == "levels":
        return (
            f"Responses to one question differ in how many of their claims are unsupported {found}, but the "
            f"unsupported ones do not cluster within a response. {NOT_CONTAGION}"
        )
    if reading == "positions":
        slope = ""
        if trend.lower is not None and trend.upper is not None and (trend.lower > 0 or trend.upper < 0):
            slope = f" The share changes by {100 * (trend.slope or 0.0):+.1f} points a claim over positions."
        return (
            f"Unsupported claims cluster {direction} often than by chance order, and their position in a "
            f"question explains it: samples of one question are as often unsupported at the same positions "
            f"{found}.{slope} {NOT_CONTAGION}"
        )
    return (
        f"Unsupported claims are adjacent {direction} often than order by chance and than question and "
        f"position explain {found}: neighbouring claims are dependent. {NOT_CONTAGION}"
    )
