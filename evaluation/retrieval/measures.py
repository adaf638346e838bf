"""Measures of a ranking, by question, through ir_measures (which calls trec_eval's own code)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.rankings import Run
from evaluation.statistics.counts import Floats

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@100", "Success@10")
"""Jaervelin and Kekaelaeinen 2002 (gains linear, as trec_eval has them); reciprocal rank; recall; any found."""


def parsed_measure(name: str) -> Any:
    """Measure object of ir_measures. Raises EvaluationError for an unknown name, with examples."""
    import ir_measures

    try:
        return ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError, KeyError, SyntaxError, AttributeError) as error:
        raise EvaluationError(
            f"{name!r} is not a measure ({error}): write for example nDCG@10, R@100, RR@10, AP, P@5 or Success@10"
        ) from error


def by_question(run: Run, judgements: Judgements, question_ids: Sequence[str], measure: str) -> Floats:
    """(Q,) values of one measure; 0 for a question missing in the run. Only the order of the ranking counts.

    trec_eval breaks ties of scores by document id; scores that fall by one per rank avoid ties.
    """
    import ir_measures

    wanted = parsed_measure(measure)
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
        for metric in ir_measures.iter_calc([wanted], qrels, scored):
            values[metric.query_id] = float(metric.value)
    return np.asarray([values[question] for question in question_ids], dtype=np.float64)
