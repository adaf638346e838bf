"""Calibration uses the scores of queries, in which questions are not marked as unanswerable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import update

from app.calibration.labelled_run import labelled_arm
from app.errors import AppError
from data.schema import runs, verdicts
from evaluation.guarantee.answers import answer_score


def test_marked_questions_are_judged_as_a_query_would(watched: Any) -> None:
    data = labelled_arm(watched.line, watched.run(answerable=False))
    expected = {text: answer_score(evaluation) for text, evaluation in watched.judged.items()}
    assert len(data.answers.score) == 12
    # all of them are judged in one batch here, and again in another one there
    by_score = sorted(data.answers.score)
    assert min(by_score) > 0.3 and max(by_score) <= max(v for v in expected.values() if v is not None) + 0.01
    unmarked = labelled_arm(watched.line, watched.run())
    assert sorted(unmarked.answers.score) == pytest.approx(by_score, abs=0.01)


def test_scores_of_a_verifier_that_queries_do_not_have_are_refused(watched: Any) -> None:
    run = watched.run(answerable=False)
    other = "faithful | entailment/3 another >=0.5 given contexts"
    with watched.line.store.write() as connection:
        connection.execute(update(verdicts).where(verdicts.c.run_id == run).values(verifier=other))
        config = connection.exec_driver_sql(f"SELECT config FROM runs WHERE id = '{run}'").scalar()
        assert isinstance(config, str)
        changed = json.loads(config.replace(watched.judge.name, other))
        connection.execute(update(runs).where(runs.c.id == run).values(config=changed))
    with pytest.raises(AppError, match="unanswerable"):
        labelled_arm(watched.line, run)
