"""The public Python API: what a script or a notebook needs, and nothing else.

Answer from your documents, and measure how often the model makes things up:

    import plumbline

    with plumbline.open() as pipeline:
        plumbline.index(pipeline, ["handbook/"], collection="handbook")
        answer = pipeline.answer(plumbline.QueryRequest("How long is the notice period?", collection="handbook"))
        print(answer.answers[0].text, answer.sources)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.answers import Answer, QueryRequest, QueryResult, Source
from app.pipeline import Pipeline
from app.settings import Settings
from data.documents import Document
from data.loaders import load_documents, load_question_files
from data.questions import Question
from evaluation.statistics.estimates import HallucinationEstimate
from generation.params import SamplingParams
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
    "Settings",
    "Source",
    "index",
    "load_question_files",
    "open",
]


def open(settings: Settings | None = None) -> Pipeline:  # noqa: A001 - plumbline.open() reads as what it does
    """A pipeline on the given settings (by default from the environment); close it or use it in a with statement."""
    return Pipeline(settings or Settings())


def index(pipeline: Pipeline, paths: Sequence[str | Path], *, collection: str) -> IndexReport:
    """Make ``collection`` hold exactly the documents found at ``paths``. See ``plumbline index --help``.

    Raises DataError for a missing path, RetrievalError when nothing can be indexed.
    """
    return pipeline.index(collection, load_documents([Path(path) for path in paths]))
