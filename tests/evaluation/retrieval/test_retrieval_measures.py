"""Judgements, runs and measures: read, checked against each other, and measured as by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.retrieval.comparison import Resampling, compare, estimate
from evaluation.retrieval.failures import worst_questions
from evaluation.retrieval.judgements import Judgements, judged_by_questions, judged_questions, read_qrels
from evaluation.retrieval.measures import by_question, parsed_measure
from evaluation.retrieval.rankings import RankedDocument, ranked_documents, read_run, write_run
from retrieval.chunking.chunks import Chunk, RetrievedChunk

GRADES = Judgements({"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}}, "here")
QUESTIONS = (Question("q1", "one"), Question("q2", "two"), Question("q3", "three"))


def ranking(*documents: str, scores: tuple[float, ...] | None = None) -> tuple[RankedDocument, ...]:
    given = scores or tuple(1.0 / i for i in range(1, len(documents) + 1))
    return tuple(RankedDocument(d, s) for d, s in zip(documents, given, strict=True))


def test_trec_and_beir_qrels_read_alike(tmp_path: Path) -> None:
    (tmp_path / "trec").write_text("q1 0 a 2\nq1 0 b 1\n\nq1 0 c 0\nq2 0 d 1\n")
    (tmp_path / "beir.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq1\tc\t0\nq2\td\t1\n")
    assert read_qrels(tmp_path / "trec").grades == read_qrels(tmp_path / "beir.tsv").grades == GRADES.grades
    assert GRADES.relevant("q1") == {"a", "b"}
    assert GRADES.relevant("nobody") == frozenset()


@pytest.mark.parametrize(
    ("content", "says"),
    [("", "empty"), ("q1 a 1\n", "1 invalid.*four"), ("q1 0 a x\n", "grade 'x'"), ("q\td\tx\n", "grade")],
)
def test_bad_qrels_are_refused(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "q").write_text(content)
    with pytest.raises(EvaluationError, match=f"(?s){says}"):
        read_qrels(tmp_path / "q")
    with pytest.raises(EvaluationError, match="read"):
        read_qrels(tmp_path / "nowhere")


def test_judgements_must_fit_questions_and_collection() -> None:
    judged = judged_questions(QUESTIONS, GRADES, frozenset("abc"))
    assert [question.id for question in judged.questions] == ["q1", "q2"]
    assert "1 of 4 judged documents are not in the collection" in judged.notes[0]
    with pytest.raises(EvaluationError, match=r"1 questions.*'q2'"):
        judged_questions(QUESTIONS[:1], GRADES, frozenset("abcd"))
    with pytest.raises(EvaluationError, match="4 documents"):
        judged_questions(QUESTIONS, GRADES, frozenset("xyz"))
    with pytest.raises(EvaluationError, match="no document as relevant"):
        judged_questions(QUESTIONS, Judgements({"q1": {"a": 0}}, "here"), frozenset("a"))
    own = judged_by_questions((Question("q", "t", relevant_document_ids=("a",)), QUESTIONS[0]), "f")
    assert own.grades == {"q": {"a": 1}}


def test_measures_by_hand() -> None:
    run = {"q1": ranking("x", "a", "c", "b"), "q2": ranking("y")}
    ids = ["q1", "q2"]
    dcg = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    assert by_question(run, GRADES, ids, "nDCG@10") == pytest.approx([dcg / ideal, 0.0])
    assert by_question(run, GRADES, ids, "RR@10").tolist() == [0.5, 0.0]
    assert by_question(run, GRADES, ids, "R@2").tolist() == [0.5, 0.0]
    assert by_question({}, GRADES, ids, "AP").tolist() == [0.0, 0.0]
    with pytest.raises(EvaluationError, match=r"'nDCG10'.*nDCG@10"):
        parsed_measure("nDCG10")


def test_the_order_counts_and_ties_of_scores_do_not() -> None:
    """trec_eval alone would sort equal scores by document id, falling, and so put x before a."""
    tied = {"q1": ranking("a", "x", scores=(0.5, 0.5))}
    assert by_question(tied, GRADES, ["q1"], "RR")[0] == 1.0


def test_documents_stand_where_their_best_chunk_stands() -> None:
    chunks = [
        RetrievedChunk(Chunk(d, s, s + 1, "x"), 1.0 - r / 10, r)
        for r, (d, s) in enumerate([("a", 0), ("b", 0), ("a", 5)], 1)
    ]
    assert [(item.document_id, item.score) for item in ranked_documents(chunks)] == [("a", 0.9), ("b", 0.8)]


def test_runs_are_written_in_trecs_six_columns_and_read_back(tmp_path: Path) -> None:
    run = {"q 1": ranking("a b", "c", scores=(0.1, 0.9)), "q2": ranking("d", "e")}
    assert write_run(tmp_path / "run", run, "my run") == 4
    lines = (tmp_path / "run").read_text().splitlines()
    assert lines[0] == "q%201 Q0 a%20b 1 1.0 my%20run"
    back = read_run(tmp_path / "run")
    assert [item.document_id for item in back["q%201"]] == ["a%20b", "c"], "the order stays although scores rise"
    assert back["q2"] == run["q2"]
    (tmp_path / "bad").write_text("q Q0 d 1 0.5\n")
    with pytest.raises(EvaluationError, match=r"bad:1.*5"):
        read_run(tmp_path / "bad")


def test_means_have_intervals_where_something_varies() -> None:
    values = np.random.default_rng(0).random(60)
    found = estimate(values, Resampling(replicates=2000))
    assert found.lower is not None and found.upper is not None
    assert found.lower < found.mean < found.upper
    assert found.upper - found.lower == pytest.approx(2 * 1.96 * values.std(ddof=1) / np.sqrt(60), rel=0.15)
    assert estimate(np.ones(5), Resampling()).lower is None
    assert estimate(np.zeros(0), Resampling()).questions == 0


def test_comparisons_are_paired_and_adjusted_over_the_family() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(80)
    others = {
        "better": base + 0.05 + 0.01 * rng.normal(size=80),
        "same": base + 0.01 * rng.normal(size=80),
        "equal": base,
    }
    found = compare(base, others, Resampling(replicates=500, permutations=2000))
    assert found["better"].p_holm < 0.01 < found["same"].p_holm
    assert found["better"].p_holm >= found["better"].p_value
    assert (found["equal"].p_value, found["equal"].better, found["equal"].worse) == (1.0, 0, 0)
    assert (found["better"].better, found["better"].worse) == (80, 0)


def test_the_worst_questions_say_what_was_found_in_place_of_what() -> None:
    run = {"q1": ranking("x", "a"), "q2": ()}
    worst = worst_questions(QUESTIONS[:2], np.asarray([0.6, 0.0]), run, GRADES, 5)
    assert [(f.question.id, f.first_relevant, f.found_first, f.relevant) for f in worst] == [
        ("q2", None, None, 1),
        ("q1", 2, "x", 2),
    ]
    assert worst_questions(QUESTIONS[:2], np.asarray([1.0, 1.0]), run, GRADES, 5) == ()
