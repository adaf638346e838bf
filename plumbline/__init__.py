"""The public Python API: what a script or a notebook needs, and nothing else.

Answer from your documents, and measure how often the model makes things up:

    import plumbline

    with plumbline.open() as pipeline:
        plumbline.index(pipeline, ["handbook/"], collection="handbook")
        answer = pipeline.answer("How long is the notice period?")
        print(answer.text, answer.sources)

Measure it on questions, let people label a random part of the answers, and read rates corrected by them:

    with plumbline.open() as pipeline:
        run = plumbline.evaluate(pipeline, "questions.jsonl", collection="handbook", samples=3)
        session = plumbline.label(pipeline, run.id, annotator="ann", questions=60)
        for item in session.items:  # blind to arm and verdict, in random order
            session.label(item, ask_ann(item.question, item.answer, item.references, item.passages))
        for arm in plumbline.figures(pipeline, run.id).corrected.run.arms:
            print(arm.arm, arm.hallucinated.uncorrected.rate, arm.hallucinated.estimate)
        plan = plumbline.plan(pipeline, run.id, half_width=0.05)
        print([(row.samples, row.questions) for row in plan.questions.rows], plan.labels.labels)

What goes wrong raises a PlumblineError: DataError (files, the database), RetrievalError (indexes, collections; among
them UnknownCollectionError), ModelError (checkpoints, devices), GenerationError (prompts, sampling, servers),
EvaluationError (runs, estimates) or AppError (a combination that cannot be; among them UnnamedCollectionError and, for
a value that cannot be, UsageError). ``parameter`` names the argument at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import plumbline_packages  # before the others: it makes sure that they are Plumbline's own
from app.answers import Answer, QueryRequest, QueryResult, Source
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
from app.scoring.score import ScoredAnswer, ScorePlan, ScoreResult, score
from app.settings import Settings
from data.answers import answers_from_rows, load_answers
from data.documents import Document
from data.errors import DataError, SchemaVersionError, StoreBusyError, StoreFullError
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
    """What is public, and nothing else."""
    return sorted((*__all__, "__all__", "__doc__", "__file__", "__name__"))


def open(settings: Settings | None = None) -> Pipeline:  # noqa: A001 - plumbline.open() reads as what it does
    """A pipeline on the given settings (by default from the environment); close it or use it in a with statement."""
    return Pipeline(settings or Settings())


def index(
    pipeline: Pipeline,
    paths: Sequence[str | Path],
    *,
    collection: str,
    follow_links: bool = False,
    language: str | None = None,
) -> IndexReport:
    """Make ``collection`` hold exactly the documents found at ``paths``. See ``plumbline index --help``.

    follow_links: whether symbolic links may lead out of a given folder. language: whose stemming and stop words word
    search takes (retrieval.sparse.tokenising.LANGUAGES; default English); ValueError for one that is not known.
    Raises DataError for a missing path, RetrievalError when nothing can be indexed.
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
    """Measure how often the model makes things up: ``plumbline evaluate`` from Python (docs/arms.md).

    questions: files, or Questions. arms: None for closed_book, rag and oracle, of which a reader leaves closed_book out
    (the figures' notes say so). Every sample is committed; the same call goes on where an interrupted one stopped.
    progress: told how far it is. Raises DataError for files, EvaluationError for arms, and what drawing them raises.
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
    asked = tuple(item for item in items if isinstance(item, Question))
    return asked if len(asked) == len(items) else load_question_files([Path(str(item)) for item in items])


def figures(pipeline: Pipeline, run: str, looking: AnalysisOptions | None = None) -> RunFigures:
    """A stored run's rates and differences, corrected ones where people labelled: ``plumbline report``.

    run: its id, or the beginning of it. looking: what takes more verification. Raises EvaluationError for an unknown
    run, AppError for one without a finished sample.
    """
    return run_figures(pipeline, run, looking)


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
    """One person's labelling of a finished run: ``plumbline label`` from Python (docs/labels.md).

    ``items`` are the answers to label, ``label(item, label)`` commits one: "supported", "hallucinated", "abstained" or
    "unscored" (cannot tell). The first call draws (60 questions, unless ``questions`` says otherwise), later ones go
    on. adjudicate: only what annotators differ on. Raises EvaluationError for an unknown run or too many questions,
    AppError for a run that is not finished, UsageError for what would be another draw.
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
    """How many questions, samples and labels a wanted precision takes, with a run as pilot: ``plumbline plan``.

    half_width: of the interval, or detect: a difference to see with ``power``; exactly one. arms: one, or two whose
    difference is planned; by default the run's first two. settings: of the simulation. Raises UsageError for numbers
    that cannot be, EvaluationError for an unknown run or arm, or fewer than 5 questions.
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
    """Judge answers that another system gave: ``plumbline score`` from Python (docs/score.md).

    answers: paths of files (or one), or objects such as {"question", "contexts", "answer", "references"}, whose fields
    are found as those of files are. model: of entailment, by name (a folder, OWNER/NAME, token-overlap), the embedded
    one by default. together: whether entailment reads the claims of an answer together; by default if the model can.
    Raises DataError for what cannot be read, AppError when there is nothing to judge by.
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
    """For tests: AssertionError unless the hallucination rate is at most ``at_most``; returns the estimate.

    by: "upper" holds the interval's upper limit against it (the rate is then shown to be so low, not merely seen),
    "rate" the estimate itself. of: all responses, or answered ones. unscored: "count" takes them as hallucinated,
    "refuse" fails when there are any, "ignore" leaves them as not hallucinated. arm: of several. options: those of
    ``score_answers``. The message has the estimate, its interval and the worst answers.
    """
    result = answers if isinstance(answers, ScoreResult) else score_answers(answers, **options)
    return assert_rate(result, at_most, arm=arm, of=of, by=by, unscored=unscored)
