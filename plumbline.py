"""The public Python API: what a script or a notebook needs, and nothing else.

Answer from your documents, and measure how often the model makes things up:

    import plumbline

    with plumbline.open() as pipeline:
        plumbline.index(pipeline, ["handbook/"], collection="handbook")
        answer = pipeline.answer(plumbline.QueryRequest("How long is the notice period?", collection="handbook"))
        print(answer.answers[0].text, answer.sources)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from app.answers import Answer, QueryRequest, QueryResult, Source
from app.pipeline import Pipeline
from app.score_assertion import assert_rate
from app.score_judging import JudgePlan
from app.scoring import ScoredAnswer, ScorePlan, ScoreResult, score
from app.settings import Settings
from data.answers import answers_from_rows, load_answers
from data.documents import Document
from data.loaders import load_documents, load_question_files
from data.questions import Question
from evaluation.statistics.estimates import HallucinationEstimate
from generation.params import SamplingParams
from model.device import pick_device
from retrieval.index_report import IndexReport

__all__ = [
    "Answer",
    "Document",
    "HallucinationEstimate",
    "IndexReport",
    "Pipeline",
    "QueryRequest",
    "QueryResult",
    "Question",
    "SamplingParams",
    "ScoreResult",
    "ScoredAnswer",
    "Settings",
    "Source",
    "assert_hallucination_rate",
    "index",
    "load_question_files",
    "open",
    "score_answers",
]


def open(settings: Settings | None = None) -> Pipeline:  # noqa: A001 - plumbline.open() reads as what it does
    """A pipeline on the given settings (by default from the environment); close it or use it in a with statement."""
    return Pipeline(settings or Settings())


def index(pipeline: Pipeline, paths: Sequence[str | Path], *, collection: str) -> IndexReport:
    """Make ``collection`` hold exactly the documents found at ``paths``. See ``plumbline index --help``.

    Raises DataError for a missing path, RetrievalError when nothing can be indexed.
    """
    return pipeline.index(collection, load_documents([Path(path) for path in paths]))


def score_answers(
    answers: str | Path | Sequence[str | Path] | Iterable[Mapping[str, object]],
    *,
    verifier: Literal["auto", "reference", "entailment"] = "auto",
    threshold: float = 0.5,
    model: str | None = None,
    evidence: Literal["contexts", "references"] = "contexts",
    baseline: str | None = None,
    settings: Settings | None = None,
) -> ScoreResult:
    """Judge answers that another system gave: ``plumbline score`` from Python (docs/score.md).

    answers: paths of files (or one), or objects such as {"question", "contexts", "answer", "references"}, whose fields
    are found as those of files are. model: of entailment, by name (a folder, OWNER/NAME, token-overlap), the embedded
    one by default. Raises DataError for what cannot be read, AppError when there is nothing to judge by.
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
    judging = JudgePlan(verifier, evidence, model, threshold, device)
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
