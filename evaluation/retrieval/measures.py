"""Compute measures of a ranking by question with ir_measures, which calls the code of trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.rankings import Run
from evaluation.statistics.counts import Floats

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@100", "Success@10")
"""nDCG (Järvelin and Kekäläinen 2002, with linear gains as in trec_eval), reciprocal rank, recall, and success."""


def parsed_measure(name: str) -> Any:
    """Return the measure object of ir_measures. Raises EvaluationError, with examples, for an unknown name."""
    import ir_measures

    try:
        return ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError, KeyError, SyntaxError, AttributeError) as error:
        raise EvaluationError(
            f"{name!r} is not a measure ({error}): write for example nDCG@10, R@100, RR@10, AP, P@5 or Success@10"
        ) from error


def by_question(run: Run, judgements: Judgements, question_ids: Sequence[str], measure: str) -> Floats:
    """Return the (Q,) values of one measure, 0 for a question that is missing in the run.

    Only the order of the ranking counts. trec_eval breaks ties of scores by document ID. Scores that decrease by one
    per rank avoid such ties.
    """
    import ir_measures

    parsed = parsed_measure(measure)
    qrels = [
        ir_measures.Qrel(question, document, grade)
        for question in question_ids
        for document, grade in judgements.grades[question].items()
    ]
    scored = [
        ir_measures.ScoredDoc(question, item.document_id, float(-rank))
        for question in question_ids
        for rank, item in enumerate(run.get(question, ()))
    ]
    values = dict.fromkeys(question_ids, 0.0)
    if scored:
        for metric in ir_measures.iter_calc([parsed], qrels, scored):
            values[metric.query_id] = float(metric.value)
    return np.asarray([values[question] for question in question_ids], dtype=np.float64)
