"""Further analyses of a stored run: signals such as semantic entropy, faithfulness, and gold evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.errors import UsageError
from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline
from app.runs.forced_drift import forced_run
from app.runs.gold_evidence import gold_outcomes, judge_gold
from data.questions import Question
from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.analysis.detection import sampling_cell
from evaluation.analysis.faithfulness import FAITHFUL, faithful_outcomes, judge_faithfulness, verifier_name
from evaluation.analysis.run_analysis import FurtherVerification, RunAnalysis, analyse
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.policy_arm import policy_settings
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from evaluation.statistics.measure import Settings
from evaluation.verifiers.entailment import THRESHOLD, reads_claims_together
from evaluation.verifiers.routing import judged_by_entailment
from model.pairs.scoring import PairScorer

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """Analyses that need more than the stored samples and verdicts.

    signals: entailment model for semantic entropy and self-consistency; "auto" for the shipped one, None to leave them
    out. faithfulness: whether to judge answers by their own chunks. gold: whether to judge claims by retrieved evidence
    and by gold passages. citations: whether to judge the precision and recall of citations. Stored judgements of
    faithfulness and gold evidence are always included; citations are judged again each time.
    """

    signals: str | None = None
    faithfulness: bool = False
    gold: bool = False
    citations: bool = False


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """The analysis of a run, with notes for the reader and the names of the additional verifiers."""

    found: RunAnalysis
    notes: tuple[str, ...]
    judges: tuple[str, ...] = ()


def analyse_further(
    pipeline: Pipeline,
    info: RunInfo,
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    options: AnalysisOptions,
    progress: Callable[[int, int], None] | None = None,
) -> AnalysisResult:
    """Analyse a run. samples: samples of all its decoding settings. progress: called with judged and total prompts.

    Raises UsageError if the entailment model for signals is the run's verifier, and the errors of loading and scoring.
    """
    notes: list[str] = []
    entailing = None
    if options.signals is not None:
        scorer = _signal_scorer(pipeline, options.signals)
        verifier = info.config.verifier
        if scorer.name not in verifier or not any(judged_by_entailment(verifier, q) for q in questions):
            entailing = CachedEntailment(scorer)
        elif options.signals != AUTO:
            raise UsageError(
                f"the model {options.signals} judged the run, and a signal must not use the same judge: name "
                "another model",
                parameter="signals",
            )
        else:
            notes.append(
                "Semantic entropy and self-inconsistency are missing: the shipped entailment model judged "
                "this run, and a signal must not use the same judge. Name another model for the signals."
            )
        if sampling_cell(info.config) is None or not any(d.greedy for d in info.config.grid):
            notes.append(
                "Signals are missing: they need a greedy answer and at least two samples of each question. Evaluate "
                "with signals and two or more samples to get them."
            )
    store = ExtraVerdicts(pipeline.store)
    judged_by = ""
    selectors = {one.selector for arm in info.config.arms if (one := policy_settings(arm.settings)) is not None}
    headline = [s for s in samples if s.decoding == info.config.decoding.label]
    if options.faithfulness and selectors:
        notes.append(
            "Faithfulness is missing: the verifier that would judge it selects the answers of the policies, and a "
            "selector must not be its own judge."
        )
    elif options.faithfulness:
        judged_by = _judge(pipeline, info, headline, questions, store, progress)
    else:
        judged_by = next((v for v in store.verifiers(info.id) if v.startswith(FAITHFUL) and v not in selectors), "")
    faithful = faithful_outcomes(store.load(info.id, judged_by)) if judged_by else None
    if options.gold:
        judge_gold(pipeline, info, headline, questions, store, progress)
    by_both = gold_outcomes(info, store)
    if options.gold and by_both is None:
        notes.append(
            "Gold evidence is missing: no answer to a question with gold passages in the collection makes a claim."
        )
    further = FurtherVerification(
        entailing, faithful, judged_by.removeprefix(FAITHFUL), by_both, forced_run(pipeline, info)
    )
    judges = (judged_by, *((by_both.fetched_by, by_both.gold_by) if by_both else ()))
    found = analyse(info.config, samples, questions, pairs, settings, further)
    return AnalysisResult(found, tuple(notes), tuple(filter(None, judges)))


def _signal_scorer(pipeline: Pipeline, name: str) -> PairScorer:
    return load_scorer(None if name == AUTO else name, pipeline.device)


def _judge(
    pipeline: Pipeline,
    info: RunInfo,
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None,
) -> str:
    """Judge the faithfulness of answers that have no stored judgement, and return the verifier's name."""
    labels = dict(info.labels)
    scorer = load_scorer(labels.get("verifier model") or None, pipeline.device)
    threshold = float(labels.get("threshold", THRESHOLD))
    together = reads_claims_together(info.config.verifier)
    judge_faithfulness(info.id, samples, questions, scorer, threshold, store, progress, together=together)
    return verifier_name(scorer, threshold, together)
