"""The public Python API, for scripts and notebooks.

Answer from your documents:

    import plumbline

    with plumbline.open() as pipeline:
        plumbline.index(pipeline, ["handbook/"], collection="handbook")
        answer = pipeline.answer("How long is the notice period?")
        print(answer.text, answer.sources)

Measure how often the model hallucinates, label a random sample of the answers, and print the corrected rates:

    with plumbline.open() as pipeline:
        run = plumbline.evaluate(pipeline, "questions.jsonl", collection="handbook", samples=3)
        session = plumbline.label(pipeline, run.id, annotator="ann", questions=60)
        for item in session.items:  # blind to arm and verdict, in random order
            session.label(item, ask_ann(item.question, item.answer, item.references, item.passages))
        for arm in plumbline.figures(pipeline, run.id).corrected.run.arms:
            print(arm.arm, arm.hallucinated.uncorrected.rate, arm.hallucinated.estimate)
        plan = plumbline.plan(pipeline, run.id, half_width=0.05)
        print([(row.samples, row.questions) for row in plan.questions.rows], plan.labels.labels)

All errors derive from PlumblineError: DataError (files, the database), RetrievalError (indexes, collections; includes
UnknownCollectionError), ModelError (checkpoints, devices), GenerationError (prompts, sampling, servers),
EvaluationError (runs, estimates) and AppError (invalid combinations; includes UnnamedCollectionError and, for invalid
values, UsageError). ``parameter`` names the invalid argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import plumbline_packages  # first, because it makes sure that the packages are Plumbline's own
from app.answering.answer_parts import Answer, Source
from app.answers import QueryRequest, QueryResult
from app.errors import AppError, UnnamedCollectionError, UsageError
from app.judging.answer_judge import JudgePlan
from app.judging.run_judge import VerifierPlan
from app.judging.verifier_sources import VerifierSource
from app.labelling.items import LabelItem
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline
from app.runs.analysis import AnalysisOptions
from app.runs.decoding_grid import temperature_for
from app.runs.evaluate import EvaluationPlan
from app.runs.figures import RunFigures, evaluated, label_session, run_figures
from app.runs.plan import FullPlan, PrecisionTarget, make_plan, pilot_of_run
from app.scoring.assertion import assert_rate
from app.scoring.result import ScoredAnswer, ScoreResult
from app.scoring.score import ScorePlan, score
from app.settings import Settings
from data.answers import answers_from_rows, load_answers
from data.documents import Document
from data.errors import DataError, SchemaVersionError, StoreBusyError, StoreFullError, StoreUnavailableError
from data.loaders import load_documents, load_question_files
from data.questions import Question
from evaluation.errors import EvaluationError, UnknownRunError
from evaluation.planning.plan import PlanSettings
from evaluation.runs.experiment import Progress
from evaluation.runs.run_config import Decoding
from evaluation.statistics.estimates import HallucinationEstimate
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError, GenerationError, ParameterError, UnavailableError
from model.errors import ModelError
from model.hardware.device import pick_device
from plumbline_errors import PlumblineError
from retrieval.errors import (
    CollectionBusyError,
    RetrievalError,
    UnknownCollectionError,
    UnpublishedCollectionError,
)
from retrieval.indexing.report import IndexReport
from retrieval.sparse.tokenising import for_language

__all__ = [
    "AnalysisOptions",
    "Answer",
    "AppError",
    "CollectionBusyError",
    "ContextLengthError",
    "DataError",
    "Decoding",
    "Document",
    "EvaluationError",
    "FullPlan",
    "GenerationError",
    "HallucinationEstimate",
    "IndexReport",
    "LabelItem",
    "LabelSession",
    "ModelError",
    "ParameterError",
    "Pipeline",
    "PlumblineError",
    "QueryRequest",
    "QueryResult",
    "Question",
    "RetrievalError",
    "RunFigures",
    "SamplingParams",
    "SchemaVersionError",
    "ScoreResult",
    "ScoredAnswer",
    "Settings",
    "Source",
    "StoreBusyError",
    "StoreFullError",
    "StoreUnavailableError",
    "UnavailableError",
    "UnknownCollectionError",
    "UnknownRunError",
    "UnnamedCollectionError",
    "UnpublishedCollectionError",
    "UsageError",
    "VerifierPlan",
    "assert_hallucination_rate",
    "evaluate",
    "figures",
    "index",
    "label",
    "load_question_files",
    "open",
    "plan",
    "score_answers",
]


plumbline_packages.warn_of_hidden_modules()


def __dir__() -> list[str]:
    """Return the public names only."""
    return sorted((*__all__, "__all__", "__doc__", "__file__", "__name__"))


def open(settings: Settings | None = None) -> Pipeline:  # noqa: A001 - plumbline.open() reads as what it does
    """Open a pipeline. settings: by default those of the environment. Close it, or use it in a with statement."""
    return Pipeline(settings or Settings())


def index(
    pipeline: Pipeline,
    paths: Sequence[str | Path],
    *,
    collection: str,
    follow_links: bool = False,
    language: str | None = None,
) -> IndexReport:
    """Update ``collection`` to hold exactly the documents found at ``paths``. See ``plumbline index --help``.

    follow_links: whether symbolic links may point outside a given folder. language: stemming and stop words of keyword
    search (retrieval.sparse.tokenising.LANGUAGES; default English). Raises ValueError for an unknown language,
    DataError for a missing path, RetrievalError if nothing can be indexed.
    """
    tokenising = None if language is None else replace(for_language(language), cjk="auto")
    documents = load_documents([Path(path) for path in paths], follow_links=follow_links)
    return pipeline.index(collection, documents, tokenising=tokenising)


def evaluate(
    pipeline: Pipeline,
    questions: str | Path | Sequence[str | Path] | Sequence[Question],
    *,
    collection: str | None = None,
    arms: Sequence[str] | None = None,
    samples: int = 1,
    decoding: Decoding | None = None,
    grid: Sequence[Decoding] = (),
    seed: int = 0,
    verifier: VerifierPlan | None = None,
    name: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> RunFigures:
    """Measure how often the model hallucinates: ``plumbline evaluate`` from Python (docs/arms.md).

    questions: question files, or Question objects. arms: None for closed_book, rag and oracle; closed_book is left out
    for a reader, and the notes of the figures say so. samples: answers drawn per question and arm. Every sample is
    committed, so that the same call continues an interrupted run. progress: called with the state of the run.

    Raises DataError for question files, EvaluationError for arms, and the errors of generation.
    """
    plan = EvaluationPlan(
        _questions(questions),
        None if arms is None else tuple(arms),
        collection,
        samples,
        decoding=decoding or Decoding(temperature_for(None, samples), max_tokens=32),
        grid=tuple(grid),
        seed=seed,
        judging=verifier or VerifierPlan(),
    )
    return evaluated(pipeline, plan, name, progress)


def _questions(given: str | Path | Sequence[str | Path] | Sequence[Question]) -> tuple[Question, ...]:
    items = [given] if isinstance(given, str | Path) else list(given)
    questions = tuple(item for item in items if isinstance(item, Question))
    return questions if len(questions) == len(items) else load_question_files([Path(str(item)) for item in items])


def figures(pipeline: Pipeline, run: str, analysis: AnalysisOptions | None = None) -> RunFigures:
    """Return the rates and differences of a stored run, corrected if it is labelled (``plumbline report``).

    run: ID of the run, or a prefix of it. analysis: further analyses, which need more verification. Raises
    EvaluationError for an unknown run, AppError for a run without a finished sample.
    """
    return run_figures(pipeline, run, analysis)


def label(
    pipeline: Pipeline,
    run: str,
    *,
    annotator: str,
    questions: int | None = None,
    arms: Sequence[str] = (),
    seed: int | None = None,
    adjudicate: bool = False,
) -> LabelSession:
    """Open the labelling session of one annotator on a finished run (``plumbline label``, docs/labels.md).

    ``items`` are the answers to label; ``label(item, label)`` commits one label: "supported", "hallucinated",
    "abstained" or "unscored" (cannot tell). The first call draws the questions (60, unless ``questions`` is given).
    Later calls continue with them. adjudicate: present only answers on which annotators disagree. Raises
    EvaluationError for an unknown run or too many questions, AppError for a run that is not finished, and UsageError
    if the settings differ from those of the first call.
    """
    return label_session(pipeline, run, annotator, questions, arms, seed, adjudicate)


def plan(
    pipeline: Pipeline,
    run: str,
    *,
    half_width: float | None = None,
    detect: float | None = None,
    power: float = 0.8,
    arms: Sequence[str] = (),
    samples: Sequence[int] = (1, 3, 5, 8),
    settings: PlanSettings | None = None,
) -> FullPlan:
    """Compute the questions, samples and labels that a target precision needs, with ``run`` as pilot.

    Give exactly one target. half_width: half the width of the interval. detect: difference to detect with probability
    ``power``. arms: one arm, or two arms whose difference is planned; by default the run's first two. samples: numbers
    of samples to compare. settings: settings of the simulation. Equivalent to ``plumbline plan``. Raises UsageError for
    invalid numbers, EvaluationError for an unknown run or arm, or fewer than 5 questions.
    """
    return make_plan(
        pilot_of_run(pipeline, run, arms), PrecisionTarget(half_width, detect, power, tuple(samples)), settings
    )


def score_answers(
    answers: str | Path | Sequence[str | Path] | Iterable[Mapping[str, object]],
    *,
    verifier: Literal["auto", "reference", "entailment"] = "auto",
    threshold: float = 0.5,
    model: str | None = None,
    evidence: Literal["contexts", "references"] = "contexts",
    baseline: str | None = None,
    settings: Settings | None = None,
    together: bool | None = None,
) -> ScoreResult:
    """Judge answers that another system wrote: ``plumbline score`` from Python (docs/score.md).

    answers: one or more paths of files, or objects such as {"question", "contexts", "answer", "references"}. Field
    names are detected as in files. model: entailment model (a folder, OWNER/NAME or token-overlap), by default the
    embedded one. together: whether the entailment model reads all claims of an answer at once; None if the model
    supports it. Raises DataError for input that cannot be read, AppError if there is no evidence.
    """
    if isinstance(answers, str | Path):
        answers = [answers]
    given = list(answers)
    paths = [Path(item) for item in given if isinstance(item, str | Path)]
    if paths and len(paths) == len(given):
        file = load_answers(paths)
    else:
        file = answers_from_rows(item for item in given if not isinstance(item, str | Path))
    device = str(pick_device((settings or Settings()).device))
    judging = JudgePlan(verifier, evidence, model, threshold, device, VerifierSource(together=together))
    return score(file, ScorePlan(judging, baseline))


def assert_hallucination_rate(
    answers: ScoreResult | str | Path | Sequence[str | Path] | Iterable[Mapping[str, object]],
    at_most: float,
    *,
    arm: str | None = None,
    of: Literal["all", "answered"] = "all",
    by: Literal["upper", "rate"] = "upper",
    unscored: Literal["count", "refuse", "ignore"] = "count",
    **options: Any,
) -> HallucinationEstimate:
    """Raise AssertionError unless the hallucination rate is at most ``at_most``, for tests. Return the estimate.

    by: "upper" compares the upper limit of the confidence interval with ``at_most``, "rate" the point estimate.
    of: denominator, all responses or the answered ones. unscored: "count" treats unscored answers as hallucinated,
    "refuse" fails if there are any, "ignore" treats them as not hallucinated. arm: required if there are several arms.
    options: arguments of ``score_answers``. The error message has the estimate, its interval and the worst answers.
    """
    result = answers if isinstance(answers, ScoreResult) else score_answers(answers, **options)
    return assert_rate(result, at_most, arm=arm, of=of, by=by, unscored=unscored)
