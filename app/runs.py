"""Evaluation runs, wired: arms over a collection, a judge, and the experiment. (Their report: app.run_report.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version

from app.errors import AppError
from app.judging import Judge, VerifierPlan, open_judge
from app.passages import Passages
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.runs.arms import Arm, ClosedBook, ModeSearch, Oracle, Rag
from evaluation.runs.experiment import Progress, RunResult, configure, run_experiment
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from retrieval.retriever import Fusion, Mode, Retriever

ARMS = ("closed_book", "rag", "oracle")


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What a run compares. collection: None takes the only one; unused when closed_book is the only arm."""

    questions: tuple[Question, ...]
    arms: tuple[str, ...] = ARMS
    collection: str | None = None
    samples: int = 3
    k: int = 4
    mode: Mode = "hybrid"
    fusion: Fusion = "minmax"
    decoding: Decoding = field(default_factory=lambda: Decoding(max_tokens=32))
    seed: int = 0
    judging: VerifierPlan = field(default_factory=VerifierPlan)


def judge_of(pipeline: Pipeline, plan: EvaluationPlan) -> Judge:
    """What judges a plan's answers; see app.judging.open_judge. Raises AppError for an arm that does not exist."""
    _check_arms(plan)
    searched = pipeline.collection_name(plan.collection) if _searches(plan) else plan.collection
    return open_judge(pipeline, plan.judging, plan.questions, searched)


def evaluate(
    pipeline: Pipeline,
    plan: EvaluationPlan,
    *,
    name: str = "",
    command: str = "",
    judge: Judge | None = None,
    progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    retry_failed: bool = False,
) -> RunResult:
    """Run, or go on with, the experiment a plan describes; see evaluation.runs.experiment.run_experiment.

    judge: what ``judge_of`` gave, if it is open already. Raises AppError for an arm that does not exist, and what
    retrieval, generation and evaluation raise.
    """
    _check_arms(plan)
    retriever = None
    collection = ""
    if _searches(plan):
        collection = pipeline.collection_name(plan.collection)
        retriever = pipeline.retriever(collection)
    arms = [_arm(arm, plan, retriever) for arm in plan.arms]
    judge = judge or judge_of(pipeline, plan)
    config = configure(
        plan.questions,
        arms,
        pipeline.generator,
        judge.verifier,
        samples=plan.samples,
        decoding=plan.decoding,
        seed=plan.seed,
        version=version("plumbline-rag"),
        generation=retriever.generation_hash if retriever else "",
        encoder=pipeline.encoder.fingerprint if retriever else "",
    )
    labels = (("collection", collection), ("model", pipeline.generator.name), ("command", command), *judge.labels)
    return run_experiment(
        config,
        plan.questions,
        arms,
        pipeline.generator,
        judge.verifier,
        RunStore(pipeline.store),
        name=name,
        labels=labels,
        progress=progress,
        limit=limit,
        retry_failed=retry_failed,
    )


def _check_arms(plan: EvaluationPlan) -> None:
    unknown = [arm for arm in plan.arms if arm not in ARMS]
    if unknown:
        raise AppError(f"there is no arm {unknown[0]!r}: choose from {', '.join(ARMS)}")


def _searches(plan: EvaluationPlan) -> bool:
    return bool(set(plan.arms) - {"closed_book"})


def _arm(name: str, plan: EvaluationPlan, retriever: Retriever | None) -> Arm:
    if name == "closed_book" or retriever is None:
        return ClosedBook()
    search = ModeSearch(retriever, plan.mode, plan.fusion)
    if name == "rag":
        return Rag(search, plan.k, search.settings)
    return Oracle(Passages(retriever), plan.k, search)


def full_run_id(pipeline: Pipeline, run_id: str) -> str:
    """The id of the run that ``run_id``, perhaps only its beginning, names. Raises EvaluationError."""
    return RunStore(pipeline.store).load_run(run_id).id
