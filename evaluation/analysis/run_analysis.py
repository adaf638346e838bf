"""All analyses of a run beyond its rates and differences. They are pure: the same samples give the same figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.questions import Question
from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.analysis.calibration import ArmCalibration, run_calibration
from evaluation.analysis.claim_order import ArmDrift, run_drift
from evaluation.analysis.detection import ArmSignals, run_signals
from evaluation.analysis.forced_run import ArmForced, ForcedRun, forced_parts
from evaluation.analysis.gold_rates import BothOutcomes, GoldComparison, gold_comparison
from evaluation.analysis.grid import GridFigures, grid_figures
from evaluation.analysis.observed_events import ObservedRate, observed_rates
from evaluation.analysis.retrieval_part import RetrievalPart, SampleKey, retrieval_part
from evaluation.outcomes import Outcome
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import RunConfig
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.routing import excluded_from_differences


@dataclass(frozen=True, slots=True)
class RunAnalysis:
    """All analyses of a run.

    grid: None for a run with one setting. gold: None if it was not requested. forced: empty if no claims were planted.
    All other analyses use the headline setting, except signals, which name the settings that they use.
    """

    grid: GridFigures | None
    observed: tuple[ObservedRate, ...]
    drift: tuple[ArmDrift, ...]
    calibration: tuple[ArmCalibration, ...]
    signals: tuple[ArmSignals, ...]
    retrieval: tuple[RetrievalPart, ...]
    gold: GoldComparison | None = None
    forced: tuple[ArmForced, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return nested dicts, lists, numbers, strings and None. An undefined number is None, never NaN."""
        result: dict[str, Any] = dataclasses.asdict(self)
        return result


@dataclass(frozen=True, slots=True)
class FurtherVerification:
    """Optional input of the analyses, which takes verification beyond the run's own.

    entailing: entailment model that compares meanings.
    faithful: outcomes of answers by their own chunks. faithful_by: name of the verifier that judged them.
    gold: outcomes by retrieved evidence and by gold passages.
    forced: continuations of planted claims.
    """

    entailing: CachedEntailment | None = None
    faithful: Mapping[SampleKey, Outcome] | None = None
    faithful_by: str = ""
    gold: BothOutcomes | None = None
    forced: ForcedRun | None = None


def analyse(
    config: RunConfig,
    records: Sequence[SampleRecord],
    questions: Sequence[Question],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    further: FurtherVerification | None = None,
) -> RunAnalysis:
    """Compute all analyses of a run.

    records: samples of all settings of the run. pairs: (baseline, other) arms that the run compares. Raises the errors
    of the entailment model.
    """
    further = further or FurtherVerification()
    resampler = Resampler(settings)
    arms = [spec.name for spec in config.arms]
    headline = [r for r in records if r.decoding == config.decoding.label]
    texts = {q.id: q.text for q in questions}
    excluded = {q.id for q in questions if excluded_from_differences(config.verifier, q)}
    # The verdicts may come from the entailment model itself, which must not evaluate its own signal.
    others = [r for r in records if r.question_id not in excluded]
    factual = [r for r in headline if r.question_id not in excluded]
    return RunAnalysis(
        grid_figures(config, records, pairs, resampler, excluded),
        observed_rates(headline, resampler),
        run_drift(headline, arms, settings, config.verifier),
        run_calibration(headline, arms, texts, further.entailing),
        run_signals(config, others, texts, further.entailing),
        retrieval_part(factual, arms, questions, further.faithful, further.faithful_by, resampler),
        gold_comparison(headline, arms, pairs, questions, further.gold, resampler) if further.gold else None,
        forced_parts(further.forced, resampler) if further.forced else (),
    )
