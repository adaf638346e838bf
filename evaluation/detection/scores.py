"""Metrics of a verifier on labelled statements, with intervals: overall, by source, and their macro average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.detection.intervals import (
    FEW_GROUPS,
    Draws,
    ScoreEstimate,
    error_estimate,
    mean_estimate,
    mean_of_ratios,
    ratio_estimate,
    share_estimate,
    undefined,
)
from evaluation.detection.metrics import (
    CALIBRATION_BINS,
    BestThreshold,
    Bools,
    Ints,
    auroc,
    best_threshold,
    calibration_error,
    calibration_gaps,
    confusion,
    equal_mass_bins,
    weighted_auroc,
)
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class ScoredStatement:
    """A statement with the verifier's support and its label.

    support: in [0, 1]; None if the statement is unscored, and ``reason`` says why. supported: label. group: ID that
    dependent statements share, such as those of one source text. source: name of the data set.
    """

    support: float | None
    supported: bool
    group: str
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DetectionScores:
    """Metrics of one set of statements.

    n: number of scored statements. hallucinated: number of them with this label. groups: number of groups.
    """

    n: int
    hallucinated: int
    groups: int
    auroc: ScoreEstimate
    balanced_accuracy: ScoreEstimate
    f1_hallucinated: ScoreEstimate
    calibration_error: ScoreEstimate


@dataclass(frozen=True, slots=True)
class SourceScores:
    """Metrics of one source."""

    source: str
    scores: DetectionScores


@dataclass(frozen=True, slots=True)
class DetectionTable:
    """Metrics of a verifier overall and by source.

    overall: metrics of all statements together. macro_auroc: mean AUROC over the sources with both classes, with equal
    weights. best_threshold: chosen on these data. unscored: (reason, number), most frequent first; these statements are
    in no metric.
    """

    overall: DetectionScores
    sources: tuple[SourceScores, ...]
    macro_auroc: ScoreEstimate
    best_threshold: BestThreshold | None
    unscored: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Arrays:
    support: Floats
    supported: Bools
    group: Ints
    groups: int


def detection_table(judged: Sequence[ScoredStatement], seed: int = 0) -> DetectionTable:
    """Compute all metrics with 95 % limits, resampled by group with ``seed``. Takes seconds for 50,000 statements."""
    scored = [item for item in judged if item.support is not None]
    unscored = Counter(item.reason or "no reason given" for item in judged if item.support is None)
    # With one seed, sources with equally many groups would get the same resamples, as if they were dependent.
    rows = tuple(
        SourceScores(source, _scores(_arrays([item for item in scored if item.source == source]), seed + 1 + number))
        for number, source in enumerate(sorted({item.source for item in scored}))
    )
    areas = [row.scores.auroc for row in rows if row.scores.auroc.estimate is not None]
    left_out = [row.source for row in rows if row.scores.auroc.estimate is None]
    arrays = _arrays(scored)
    return DetectionTable(
        overall=_scores(arrays, seed),
        sources=rows,
        macro_auroc=mean_estimate(
            areas, f"without {', '.join(left_out)}, which have one class only" if left_out else ""
        ),
        best_threshold=best_threshold(arrays.support, arrays.supported),
        unscored=tuple(unscored.most_common()),
    )


def _arrays(items: Sequence[ScoredStatement]) -> _Arrays:
    names = {name: index for index, name in enumerate(dict.fromkeys(item.group for item in items))}
    return _Arrays(
        np.array([item.support for item in items], dtype=np.float64),
        np.array([item.supported for item in items], dtype=np.bool_),
        np.array([names[item.group] for item in items], dtype=np.intp),
        len(names),
    )


def _scores(arrays: _Arrays, seed: int) -> DetectionScores:
    support, supported = arrays.support, arrays.supported
    if not support.size:
        nothing = undefined("no statement was scored")
        return DetectionScores(0, 0, 0, nothing, nothing, nothing, nothing)
    draws = Draws(arrays.groups, seed)
    cells = _by_group(arrays, confusion(support, supported))
    yes, no = (len(set(arrays.group[mask].tolist())) for mask in (supported, ~supported))
    one_class = (
        "" if yes and no else f"every statement is {'supported' if yes else 'hallucinated'}: both classes are needed"
    )
    return DetectionScores(
        n=int(support.size),
        hallucinated=int(np.count_nonzero(~supported)),
        groups=arrays.groups,
        auroc=undefined(one_class) if one_class else _area(arrays, draws, min(yes, no)),
        balanced_accuracy=undefined(one_class) if one_class else _balanced(cells),
        f1_hallucinated=_f1(cells),
        calibration_error=_calibration(arrays, draws),
    )


def _by_group(arrays: _Arrays, rows: Floats) -> Floats:
    """Sum the rows of each group, so that a resample costs one product: (n, k) -> (groups, k)."""
    sums = np.zeros((arrays.groups, rows.shape[1]))
    np.add.at(sums, arrays.group, rows)
    return sums


def _balanced(cells: Floats) -> ScoreEstimate:
    caught, missed, false_alarm, passed = cells.T
    return mean_of_ratios((caught, caught + missed), (passed, passed + false_alarm))


def _f1(cells: Floats) -> ScoreEstimate:
    caught, missed, false_alarm, _ = cells.T
    if not (caught + missed + false_alarm).any():
        return undefined("nothing is hallucinated and nothing was flagged")
    counted = float((caught + missed + false_alarm).sum())
    return ratio_estimate(2.0 * caught, 2.0 * caught + missed + false_alarm, counted)


def _calibration(arrays: _Arrays, draws: Draws) -> ScoreEstimate:
    support, size = arrays.support, arrays.support.size
    gaps = calibration_gaps(support, arrays.supported, equal_mass_bins(support))
    sums = _by_group(arrays, np.concatenate((gaps, np.ones((size, 1))), axis=1))

    def statistic(counts: Floats) -> Floats:
        drawn = counts @ sums
        return calibration_error(drawn[:, :-1], drawn[:, -1])

    few = "" if size >= FEW_GROUPS * CALIBRATION_BINS else f"only {size / CALIBRATION_BINS:.1f} statements a bin"
    totals = sums.sum(axis=0)
    estimate = float(calibration_error(totals[:-1], totals[-1]))
    return error_estimate(estimate, draws.over(statistic, sums.shape[1]), arrays.groups, few)


def _area(arrays: _Arrays, draws: Draws, carrying: int) -> ScoreEstimate:
    def statistic(counts: Floats) -> Floats:
        return weighted_auroc(arrays.support, arrays.supported, counts[:, arrays.group])

    value = auroc(arrays.support, arrays.supported)
    assert value is not None  # noqa: S101  (both classes are there)
    return share_estimate(value, draws.over(statistic, arrays.support.size), carrying, arrays.groups)
