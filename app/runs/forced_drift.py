"""Forced drift: an additional run in which every answer begins with an inserted claim.

It is a separate run, which is committed, resumed and seeded like any other. The main run's report finds it by a label
that names the main run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.errors import UsageError
from app.judging.run_judge import Judge, VerifierPlan, load_scorer, open_judge
from app.pipeline import Pipeline
from app.runs.arms import open_arms
from app.runs.evaluate import EvaluationPlan, plain_arms, run_config
from evaluation.analysis.forced_run import FOLLOWS, ForcedRun, followers, mark_followers
from evaluation.modifiers.modifier import ModifiedArm
from evaluation.modifiers.planting import PLANTINGS, PlantedClaim
from evaluation.runs.dry_run import DryRun, probe
from evaluation.runs.experiment import Progress, RunOptions, RunResult, run_experiment
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.run_config import RunConfig
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.verifiers.cached_scorer import CachedScorer
from generation.causal.continuing import ContinuingGenerator

LABEL = "forced drift of"


@dataclass(frozen=True, slots=True)
class _Forced:
    """The opened objects that the additional run needs."""

    config: RunConfig
    arms: tuple[ModifiedArm, ...]
    judge: Judge


def check_forced(pipeline: Pipeline, plan: EvaluationPlan) -> None:
    """Raise UsageError if claims cannot be inserted. Call it before the main run starts."""
    if not isinstance(pipeline.generator, ContinuingGenerator):
        raise UsageError(
            f"--forced-drift: {pipeline.generator.name} cannot continue a given beginning of an answer. Give "
            "a decoder that writes sentences (--model FOLDER, or transformers:FOLDER)"
        )
    if plan.judging.source.together:
        raise UsageError("--forced-drift needs verdicts on separate claims: leave out --together")
    if not plain_arms(plan):
        raise UsageError("--forced-drift inserts claims in plain arms: name closed_book, rag or oracle among --arms")


def run_forced(
    pipeline: Pipeline,
    plan: EvaluationPlan,
    main: str,
    *,
    progress: Callable[[Progress], None] | None = None,
    marking: Callable[[int, int], None] | None = None,
    retry_failed: bool = False,
) -> RunResult:
    """Generate the continuations of inserted claims for the run ``main``, and mark those that restate the claim.

    Resumes a run that was interrupted. Sentences are judged separately against the trusted collection, whatever judge
    the main run has. main: ID of the main run. marking: called with the marked and total answers. Raises the errors of
    ``check_forced`` and ``evaluate``.
    """
    check_forced(pipeline, plan)
    opened = _open(pipeline, plan, main)
    runs = RunStore(pipeline.store)
    labels = ((LABEL, main), ("model", pipeline.generator.name), *opened.judge.labels)
    result = run_experiment(
        opened.config,
        plan.questions,
        opened.arms,
        pipeline.generator,
        opened.judge.verifier,
        runs,
        RunOptions(f"forced drift of {main}", labels, retry_failed=retry_failed),
        progress=progress,
    )
    scorer = CachedScorer(load_scorer(plan.judging.model, pipeline.device))
    mark_followers(
        result.run_id,
        runs.load_samples(result.run_id),
        plan.questions,
        scorer,
        plan.judging.threshold,
        ExtraVerdicts(pipeline.store),
        marking,
    )
    return result


def estimate_forced(pipeline: Pipeline, plan: EvaluationPlan, main: str) -> DryRun:
    """Estimate the cost of the continuations. Raises the errors of ``run_forced``."""
    check_forced(pipeline, plan)
    opened = _open(pipeline, plan, main)
    committed = RunStore(pipeline.store).committed(opened.config.run_id)
    return probe(opened.config, plan.questions, opened.arms, pipeline.generator, opened.judge.verifier, committed)


def forced_run(pipeline: Pipeline, info: RunInfo) -> ForcedRun | None:
    """Return the stored continuations of a run with their marks; None if there are none or they are not marked."""
    runs, store = RunStore(pipeline.store), ExtraVerdicts(pipeline.store)
    forced = next((r for r in runs.list_runs(info.config.owner) if dict(r.labels).get(LABEL) == info.id), None)
    if forced is None:
        return None
    name = next((n for n in store.verifiers(forced.id) if n.startswith(FOLLOWS)), None)
    if name is None:
        return None
    return ForcedRun(runs.load_samples(forced.id), followers(store.load(forced.id, name)), name.removeprefix(FOLLOWS))


def _open(pipeline: Pipeline, plan: EvaluationPlan, main: str) -> _Forced:
    named = plain_arms(plan)
    collection = pipeline.collection_name(plan.collection) if any(arm.searches for arm in named) else None
    search = pipeline.search(collection, plan.mode, plan.fusion) if collection else None
    arms = tuple(
        ModifiedArm(arm, [PlantedClaim(planted, main)])
        for arm in open_arms(named, plan.k, search)
        for planted in PLANTINGS
    )
    judging = plan.judging
    by_sentence = VerifierPlan(
        "entailment", judging.model, judging.trusted, judging.threshold, judging.k, judging.source
    )
    judge = open_judge(pipeline, by_sentence, plan.questions, collection or plan.collection)
    return _Forced(run_config(pipeline, plan, arms, judge, search), arms, judge)
