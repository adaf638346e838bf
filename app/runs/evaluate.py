"""Run evaluations: open the arms and the judge of a plan and run the experiment. Reports are in app.runs.report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from app.judging.run_judge import Judge, ScorerLoader, VerifierPlan, open_judge
from app.models.generators import prompt_hash
from app.pipeline import Pipeline
from app.runs.arms import open_arms
from app.runs.default_arms import chosen_arms
from app.runs.policies import PolicyOptions, check_policies, judged_by_others, policy_parts, with_policies
from data.questions import Question
from evaluation.modifiers.arm_names import ArmName, parse_arms
from evaluation.runs.arms import Arm
from evaluation.runs.cell_order import WorkerGeneration
from evaluation.runs.dry_run import DryRun, probe
from evaluation.runs.experiment import Progress, RunOptions, RunResult, configure, run_experiment
from evaluation.runs.run_config import Decoding, RunConfig
from evaluation.runs.run_store import RunStore
from retrieval.collections import collection_info
from retrieval.retriever import Fusion, Mode
from retrieval.search import Search

LEFT_OUT = "left out"
"""Label of a stored run that explains why a default arm is missing."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """The settings of a run.

    questions: the questions of the run.
    arms: names of the arms (docs/arms.md); None for the default arms of the model (app.runs.default_arms). The name
    ``each`` expands to several arms.
    collection: name of the searched collection; None for the only existing one. Unused if no arm searches.
    samples: number of samples per question, arm and decoding.
    k: number of chunks to retrieve.
    mode, fusion: retrieval settings; None for those of the collection.
    decoding: decoding settings of the headline rates. grid: further decoding settings for the same prompts.
    owner: tenant of the run, "" for this machine.
    left_out: reason why a default arm is missing, "" if none is.
    policies: settings of the arms with policies. In a run with such arms the shipped verifier selects answers, so the
    default judge is the references alone (docs/policies.md).
    """

    questions: tuple[Question, ...]
    arms: tuple[str, ...] | None = None
    collection: str | None = None
    samples: int = 3
    k: int = 4
    mode: Mode | None = None
    fusion: Fusion | None = None
    decoding: Decoding = field(default_factory=lambda: Decoding(max_tokens=32))
    grid: tuple[Decoding, ...] = ()
    seed: int = 0
    judging: VerifierPlan = field(default_factory=VerifierPlan)
    owner: str = ""
    left_out: str = ""
    policies: PolicyOptions = field(default_factory=PolicyOptions)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The opened objects that a plan needs to run."""

    config: RunConfig
    arms: tuple[Arm, ...]
    judge: Judge
    labels: tuple[tuple[str, str], ...]


def with_arms(pipeline: Pipeline, plan: EvaluationPlan) -> EvaluationPlan:
    """Return the plan with the default arms of the pipeline's model if it names no arms."""
    if plan.arms is not None:
        return plan
    chosen = chosen_arms(pipeline, None)
    return replace(plan, arms=chosen.names, left_out=chosen.left_out)


def arms_of(plan: EvaluationPlan) -> tuple[str, ...]:
    """Return the expanded names of a plan's arms.

    Raises EvaluationError for an unknown arm, and ValueError if the plan names no arms (see ``with_arms``).
    """
    return tuple(named.text for named in _named(plan))


def has_policies(plan: EvaluationPlan) -> bool:
    """Return whether any arm of the plan has policies. Raises the errors of ``arms_of``."""
    return with_policies(_named(plan))


def plain_arms(plan: EvaluationPlan) -> tuple[ArmName, ...]:
    """Return the arms of the plan that have no modifiers. Raises the errors of ``arms_of``."""
    return tuple(arm for arm in _named(plan) if not arm.modifiers)


def run_id_of(pipeline: Pipeline, plan: EvaluationPlan, judge: Judge | None = None) -> str:
    """Return the ID of the plan's run, which need not exist yet.

    Raises the errors that ``evaluate`` raises before generation.
    """
    return _open(pipeline, plan, judge).config.run_id


def judge_of(pipeline: Pipeline, plan: EvaluationPlan, load: ScorerLoader | None = None) -> Judge:
    """Return the judge for the answers of a plan.

    Raises EvaluationError for an unknown arm, and the errors of app.judging.run_judge.open_judge.
    """
    plan = with_arms(pipeline, plan)
    judging = judged_by_others(plan.judging) if with_policies(_named(plan)) else plan.judging
    searched = pipeline.collection_name(plan.collection) if _searches(_named(plan)) else plan.collection
    return open_judge(pipeline, judging, plan.questions, searched, load)


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
    started: Callable[[str], None] | None = None,
    worker_generation: WorkerGeneration | None = None,
) -> RunResult:
    """Run or resume the experiment of a plan; see evaluation.runs.experiment.run_experiment.

    judge: result of ``judge_of`` if it is already open. started: called with the ID of the run before generation.
    worker_generation: workers that generate the samples, with the same results (app.runs.distributed). They do not
        support arms with policies.

    Raises EvaluationError for an unknown arm, and the errors of retrieval, generation and evaluation.
    """
    opened = _open(pipeline, plan, judge)
    if started is not None:
        started(opened.config.run_id)
    return run_experiment(
        opened.config,
        plan.questions,
        opened.arms,
        pipeline.generator,
        opened.judge.verifier,
        RunStore(pipeline.store),
        RunOptions(name, (*opened.labels[:2], ("command", command), *opened.labels[2:]), limit, retry_failed),
        progress=progress,
        worker_generation=worker_generation,
    )


def dry_run(pipeline: Pipeline, plan: EvaluationPlan, judge: Judge | None = None) -> DryRun:
    """Estimate the cost of a run from a few of its cells. Stores nothing. Raises the errors of ``evaluate``."""
    opened = _open(pipeline, plan, judge)
    committed = RunStore(pipeline.store).committed(opened.config.run_id)
    return probe(opened.config, plan.questions, opened.arms, pipeline.generator, opened.judge.verifier, committed)


def run_config(
    pipeline: Pipeline,
    plan: EvaluationPlan,
    arms: Sequence[Arm],
    judge: Judge,
    search: Search | None,
    *,
    grid: Sequence[Decoding] = (),
) -> RunConfig:
    """Return the configuration of a run with these arms and this judge. search: None if no arm searches."""
    config = configure(
        plan.questions,
        arms,
        pipeline.generator,
        judge.verifier,
        samples=plan.samples,
        decoding=plan.decoding,
        seed=plan.seed,
        version=version("plumbline-rag"),
        generation=search.retriever.generation_hash if search else "",
        encoder=pipeline.encoder.fingerprint if search else "",
        grid=grid,
    )
    return replace(config, owner=plan.owner)


def _open(pipeline: Pipeline, plan: EvaluationPlan, judge: Judge | None) -> _Opened:
    plan = with_arms(pipeline, plan)
    named = _named(plan)
    check_policies(named, plan.decoding, plan.grid)
    collection = pipeline.collection_name(plan.collection) if _searches(named) else ""
    search = pipeline.search(collection, plan.mode, plan.fusion) if collection else None
    judge = judge or judge_of(pipeline, plan)
    parts = policy_parts(pipeline, plan.policies, judge) if with_policies(named) else None
    arms = open_arms(named, plan.k, search, parts)
    config = run_config(pipeline, plan, arms, judge, search, grid=plan.grid)
    published = collection_info(pipeline.store, collection).published_at if collection else None
    labels = (
        ("collection", collection),
        ("model", pipeline.generator.name),
        ("collection published", published.isoformat(timespec="seconds") if published else ""),
        ("prompt", _prompt(pipeline)),
        ("prompt hash", prompt_hash(pipeline.generator, pipeline.settings.prompt)),
        *judge.labels,
        *(((LEFT_OUT, plan.left_out),) if plan.left_out else ()),
    )
    return _Opened(config, arms, judge, labels)


def _prompt(pipeline: Pipeline) -> str:
    """Return the prompt template of a language model, or "" for a reader, which has none."""
    from generation.reader.reader import EmbeddedReader

    if isinstance(pipeline.generator, EmbeddedReader):
        return ""
    return pipeline.settings.prompt or "the default"


def _named(plan: EvaluationPlan) -> tuple[ArmName, ...]:
    if plan.arms is None:
        raise ValueError("the arms are not chosen yet: call with_arms first")
    return parse_arms(",".join(plan.arms), plan.k)


def _searches(arms: Sequence[ArmName]) -> bool:
    return any(arm.searches for arm in arms)


def full_run_id(pipeline: Pipeline, run_id: str) -> str:
    """Return the full ID of the run whose ID begins with ``run_id``. Raises EvaluationError if there is none."""
    return RunStore(pipeline.store).load_run(run_id).id
