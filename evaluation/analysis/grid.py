"""Rates as a function of temperature, top-p and top-k, on the same questions, with simultaneous limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.analysis.arrays import shares_by_question
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import RunConfig
from evaluation.statistics.bands import Band, difference_band, rate_band
from evaluation.statistics.counts import Floats
from evaluation.statistics.measure import Resampler, mean_responses


@dataclass(frozen=True, slots=True)
class GridSetting:
    """One decoding of the grid. top_k: None keeps all tokens. samples: number of samples per question and arm."""

    label: str
    temperature: float
    top_p: float
    top_k: int | None
    samples: int


@dataclass(frozen=True, slots=True)
class ArmGrid:
    """Hallucinated share of one arm at every setting.

    responses: number of responses at each setting. hallucinated: share of all responses. answered: share of the scored
    answers. The limits of a band hold for all settings of the arm together.
    """

    arm: str
    questions: int
    responses: tuple[int, ...]
    hallucinated: Band
    answered: Band


@dataclass(frozen=True, slots=True)
class PairGrid:
    """Difference of two arms at every setting: baseline minus other.

    questions: number of questions that both arms have at all settings. difference: over the cross-pairs of samples in
    which both responses are scored; undefined at a setting without such pairs.
    """

    baseline: str
    other: str
    questions: int
    difference: Band


@dataclass(frozen=True, slots=True)
class GridFigures:
    """Rates of a run at all settings of its grid.

    settings: sorted by temperature, top-p, top-k. headline: index of the setting whose rates the report compares.
    """

    settings: tuple[GridSetting, ...]
    headline: int
    arms: tuple[ArmGrid, ...]
    pairs: tuple[PairGrid, ...]


def grid_figures(
    config: RunConfig,
    records: Sequence[SampleRecord],
    pairs: Sequence[tuple[str, str]],
    resampler: Resampler,
    excluded: Collection[str] = (),
) -> GridFigures | None:
    """Compute the grid of a run; None if the run has only one setting.

    pairs: (baseline, other) arms to compare. excluded: IDs of questions that are excluded from differences.
    """
    if not config.grid:
        return None
    ordered = sorted(config.decodings, key=lambda d: (d.temperature, -d.top_p, -(d.top_k or 10**9), d.label))
    labels = [d.label for d in ordered]
    by_arm: dict[str, dict[str, list[SampleRecord]]] = {}
    for record in records:
        by_arm.setdefault(record.arm, {label: [] for label in labels})[record.decoding].append(record)
    arms = [_arm_grid(spec.name, by_arm[spec.name], resampler) for spec in config.arms if spec.name in by_arm]
    compared = [
        found
        for one, two in pairs
        if one in by_arm
        and two in by_arm
        and (found := _pair_grid(one, two, by_arm, frozenset(excluded), config, resampler)) is not None
    ]
    settings = tuple(GridSetting(d.label, d.temperature, d.top_p, d.top_k, config.samples_of(d)) for d in ordered)
    return GridFigures(settings, labels.index(config.decoding.label), tuple(arms), tuple(compared))


def _arm_grid(arm: str, cells: dict[str, list[SampleRecord]], resampler: Resampler) -> ArmGrid:
    questions = sorted({r.question_id for drawn in cells.values() for r in drawn})
    every = [shares_by_question(drawn, lambda r: True, _hallucinated, questions) for drawn in cells.values()]
    scored = [shares_by_question(drawn, _answered, _hallucinated, questions) for drawn in cells.values()]
    responses = tuple(s.counted for s in every)

    def band(columns: list[tuple[Floats, Floats]], counts: Sequence[int]) -> Band:
        h, a = (np.stack(side, axis=1) for side in zip(*columns, strict=True))
        return rate_band(h, a, np.array(counts, dtype=np.float64), resampler)

    return ArmGrid(
        arm,
        len(questions),
        responses,
        band([(s.event, s.base) for s in every], responses),
        band([(s.event, s.base) for s in scored], [s.counted for s in scored]),
    )


def _pair_grid(
    one: str,
    two: str,
    by_arm: dict[str, dict[str, list[SampleRecord]]],
    excluded: frozenset[str],
    config: RunConfig,
    resampler: Resampler,
) -> PairGrid | None:
    drawn = [cell for arm in (one, two) for cell in by_arm[arm].values()]
    questions = sorted(set.intersection(*({r.question_id for r in cell} for cell in drawn)) - excluded)
    if not questions:
        return None
    (h1, r1), (h2, r2) = (_scored(list(by_arm[arm].values()), questions) for arm in (one, two))
    most = max(config.samples_of(d) for d in config.decodings)
    independent = mean_responses(np.full(len(questions), float(most)))
    return PairGrid(one, two, len(questions), difference_band(h1, h2, independent, resampler, (r1, r2)))


def _scored(cells: Sequence[Sequence[SampleRecord]], questions: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the hallucinated and the scored share of the responses, each [questions, settings]."""
    found = [
        shares_by_question(cell, lambda r: r.evaluation.outcome != "unscored", _hallucinated, questions)
        for cell in cells
    ]
    return np.stack([s.event for s in found], axis=1), np.stack([s.base for s in found], axis=1)


def _hallucinated(record: SampleRecord) -> bool:
    return record.evaluation.outcome == "hallucinated"


def _answered(record: SampleRecord) -> bool:
    return record.evaluation.outcome in ("hallucinated", "supported")
