"""Evaluate and tune a search on judged questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.errors import AppError
from data.errors import DataError
from data.jsonl import JSONL_SUFFIXES
from data.loaders import load_question_files
from data.questions import Question
from evaluation.retrieval.comparison import MeanEstimate, Resampling, estimate
from evaluation.retrieval.failures import Failure, worst_questions
from evaluation.retrieval.judgements import JudgedQuestions, judged_by_questions, judged_questions, read_qrels
from evaluation.retrieval.measures import by_question, parsed_measure
from evaluation.retrieval.own_documents import OwnDocuments, own_documents
from evaluation.retrieval.rankings import RankedDocument, Run, ranked_documents
from evaluation.retrieval.tuning import Tuning, fusion_grid, tune
from evaluation.statistics.counts import Floats
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Candidates, Retriever, fused_hits
from retrieval.search import Search

_BATCH = 64

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RetrievalEvaluation:
    """The evaluation of a search.

    judged: questions and judgements. run: the ranked documents of each question. values: values of each measure, (Q,),
    in the order of the questions. means: mean of each measure with its interval. worst: the worst questions.
    """

    judged: JudgedQuestions
    run: Run
    values: dict[str, Floats]
    means: dict[str, MeanEstimate]
    worst: tuple[Failure, ...]


def load_queries(queries: Path | None, qrels: Path | None) -> tuple[Question, ...]:
    """Read the questions of a file, or those of queries.jsonl in the BEIR folder of the qrels.

    queries: file of questions; None to find it from the qrels. Raises DataError or AppError that names what is missing.
    """
    if queries is not None:
        if queries.is_dir():
            raise AppError(f"{queries} is a folder: give the file of queries (queries.jsonl in a BEIR folder)")
        return load_question_files((queries,))
    if qrels is None:
        raise AppError("no questions were given: name a file with --queries")
    siblings = [qrels.parent.parent / f"queries{suffix}" for suffix in JSONL_SUFFIXES]
    for path in siblings:
        if path.is_file():
            return load_question_files((path,))
    raise AppError(
        f"--qrels {qrels} judges questions by id only, and there is no {siblings[0]}: give their texts: --queries FILE"
    )


def load_judged(retriever: Retriever, queries: Path | None, qrels: Path | None) -> JudgedQuestions:
    """Read questions and judgements for a collection.

    qrels: file of judgements; None for the relevant documents that the questions name. Raises DataError if there are no
    judgements, and the errors of ``load_queries``.
    """
    questions = load_queries(queries, qrels)
    if qrels is not None:
        judgements = read_qrels(qrels)
    else:
        judgements = judged_by_questions(questions, str(queries))
        if not judgements.grades:
            raise DataError(
                f"no question of {queries} names relevant documents, and there is no --qrels FILE: there is nothing to "
                "measure against (--run-file OUT writes the results all the same)"
            )
    known = frozenset(chunk.document_id for chunk in retriever.chunks)
    judged = judged_questions(questions, judgements, known)
    own = own_documents(judged.questions, judgements, retriever.chunks)
    return replace(judged, own=own.ids, notes=(*judged.notes, *own.notes))


def run_search(
    search: Search, questions: Sequence[Question], progress: Progress, own: frozenset[str] = frozenset()
) -> Run:
    """Return the ranked documents for each question. A document's score is that of its best chunk.

    own: IDs of the questions whose results exclude the document with the same ID. At most ``depth`` chunks are
    retrieved. More would give each retriever more candidates, which changes the normalised scores.
    """
    k = search.params.depth
    run: dict[str, tuple[RankedDocument, ...]] = {}
    for start in range(0, len(questions), _BATCH):
        part = questions[start : start + _BATCH]
        found = search.retrieve_many([question.text for question in part], k)
        left = OwnDocuments(own)
        run.update({q.id: left.leave_out(q.id, ranked_documents(items)) for q, items in zip(part, found, strict=True)})
        progress(min(start + _BATCH, len(questions)), len(questions))
    return run


def evaluate_run(
    judged: JudgedQuestions, run: Run, measures: Sequence[str], worst: int, resampling: Resampling | None = None
) -> RetrievalEvaluation:
    """Compute measures with intervals, and find the worst questions by the first measure. worst: their number."""
    resampling = resampling or Resampling()
    ids = [question.id for question in judged.questions]
    values = {str(parsed_measure(name)): by_question(run, judged.judgements, ids, name) for name in measures}
    first = next(iter(values.values()))
    return RetrievalEvaluation(
        judged,
        run,
        values,
        {name: estimate(found, resampling) for name, found in values.items()},
        worst_questions(judged.questions, first, run, judged.judgements, worst),
    )


def tune_fusion(
    retriever: Retriever,
    judged: JudgedQuestions,
    baseline: RetrievalParams,
    measure: str,
    folds: int,
    seed: int,
    progress: Progress,
) -> Tuning:
    """Choose mode, fusion and weights on these questions (see evaluation.retrieval.tuning).

    Each question is encoded and searched once. baseline: current settings. measure: measure to optimise. folds: number
    of folds of the cross-validation. Raises EvaluationError for too few questions or an invalid number of folds.
    """
    parsed_measure(measure)
    grid = fusion_grid(baseline)
    both = replace(baseline, mode="hybrid")
    texts = [question.text for question in judged.questions]
    ids = [question.id for question in judged.questions]
    found: list[Candidates] = []
    for start in range(0, len(texts), _BATCH):
        found.extend(retriever.candidates_many(texts[start : start + _BATCH], both))
        progress(len(found), len(texts) + len(grid))
    documents = [chunk.document_id for chunk in retriever.chunks]
    own = OwnDocuments(judged.own)
    done = 0

    def score(setting: RetrievalParams) -> Floats:
        nonlocal done
        run = {
            key: own.leave_out(
                key, _by_document((documents[hit.position], hit.score) for hit in fused_hits(candidates, setting))
            )
            for key, candidates in zip(ids, found, strict=True)
        }
        done += 1
        progress(len(texts) + done, len(texts) + len(grid))
        return by_question(run, judged.judgements, ids, measure)

    return tune(grid, score, measure, folds, Resampling(seed=seed))


def _by_document(items: Iterable[tuple[str, float]]) -> tuple[RankedDocument, ...]:
    best: dict[str, float] = {}
    for document, score in items:
        best.setdefault(document, score)
    return tuple(RankedDocument(document, score) for document, score in best.items())


def evaluation_to_json(result: RetrievalEvaluation, settings: str, generation: str) -> dict[str, Any]:
    """Return an evaluation as JSON: settings, measures with intervals, values per question, and the worst questions."""
    return {
        "settings": settings,
        "generation": generation,
        "questions": len(result.judged.questions),
        "notes": list(result.judged.notes),
        "measures": {
            name: {"mean": mean.mean, "lower": mean.lower, "upper": mean.upper} for name, mean in result.means.items()
        },
        "by_question": {
            question.id: {name: float(found[i]) for name, found in result.values.items()}
            for i, question in enumerate(result.judged.questions)
        },
        "worst": [
            {
                "id": failure.question.id,
                "text": failure.question.text,
                "value": failure.value,
                "relevant": failure.relevant,
                "first_relevant_rank": failure.first_relevant,
                "found_first": failure.found_first,
            }
            for failure in result.worst
        ],
    }
