"""Rates by gold passages compared with rates by retrieved evidence, on hand-written samples with a real scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from data.questions import EvidenceSpan, Question
from data.store import Store
from evaluation.analysis.faithfulness import faithful_outcomes, key_of
from evaluation.analysis.gold_judging import judge_by_both, names_gold, two_sources
from evaluation.analysis.gold_rates import BothOutcomes, gold_comparison
from evaluation.analysis.run_analysis import FurtherVerification, analyse
from evaluation.reports.analysis_tables import analysis_rows
from evaluation.reports.analysis_view import analysis_view
from evaluation.reports.report import template_environment
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunStore
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.evidence import GoldEvidence, SearchedEvidence
from retrieval.chunking.chunks import Chunk, RetrievedChunk

SETTINGS = Settings(bootstrap=400, permutations=199)
TRUE, LURE = Chunk("right", 0, 5, "Paris"), Chunk("wrong", 0, 4, "Rome")


class Shelf:
    """A collection of two documents with a search that finds only the misleading one."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(c for c in (TRUE, LURE) if c.document_id == document_id)

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        return tuple((RetrievedChunk(LURE, 1.0, 1),) for _ in queries)


def gold(number: int) -> Question:
    return Question(f"q{number}", "Where?", evidence=(EvidenceSpan("right", 0, 5),))


def outcomes(made: Sequence[SampleRecord], wrong: set[str]) -> dict[tuple[str, str, str, int], str]:
    """Return supported outcomes, except for the given questions."""
    return {key_of(r): "hallucinated" if r.question_id in wrong else "supported" for r in made if r.evaluation.verdicts}


def test_an_answer_misled_by_the_search_is_false_by_gold_passages_only(
    desk: SimpleNamespace, overlap: type, database_url: str
) -> None:
    questions = [gold(0), gold(1), Question("gone", "?", relevant_document_ids=("lost",)), Question("bare", "?")]
    made = [desk.sample(q.id, ["supported"], words=["Rome" if q.id == "q0" else "Paris"]) for q in questions]
    scorer, shelf = overlap(), Shelf()
    sources = two_sources(scorer, 0.5, GoldEvidence(shelf, shelf), SearchedEvidence(shelf, "h" * 12), shelf)
    with Store.open(database_url) as store:
        runs, kept = RunStore(store), ExtraVerdicts(store)
        run = runs.create_or_open_run(desk.config(samples=1), questions)
        runs.save_samples(run, made)
        judge_by_both(run, made, questions, sources, kept)
        calls = len(scorer.calls)
        judge_by_both(run, made, questions, sources, kept)
        assert len(scorer.calls) == calls  # what is judged is not judged again
        fetched = faithful_outcomes(kept.load(run, sources.fetched_name))
        found = faithful_outcomes(kept.load(run, sources.gold_name))
        assert runs.load_samples(run) == tuple(made)  # the run's own verdicts are untouched
    by_question = {q: (fetched[key], found[key]) for key in fetched if (q := key[0])}
    assert by_question == {"q0": ("supported", "hallucinated"), "q1": ("hallucinated", "supported")}
    comparison = gold_comparison(
        made, ("rag",), (), questions, BothOutcomes(fetched, found, "f", "g"), Resampler(SETTINGS)
    )
    assert comparison.questions == 2
    assert dict(comparison.left_out) == {
        "the collection held none of their gold passages, or they were not judged yet": 1,
        "they name no gold passage": 1,
    }


def test_rates_change_and_arms_difference_by_each_source(desk: SimpleNamespace) -> None:
    questions = [gold(i) for i in range(40)]
    made = [desk.answer(q.id, "supported", arm=arm) for q in questions[:32] for arm in ("closed_book", "rag")]
    made += [desk.answer(q.id, "abstained", arm=arm) for q in questions[32:] for arm in ("closed_book", "rag")]
    closed = [r for r in made if r.arm == "closed_book"]
    rag = [r for r in made if r.arm == "rag"]
    # The search favours rag: it finds the passage that misled the answers to q0 to q15.
    fetched = outcomes(closed, {f"q{i}" for i in range(32)}) | outcomes(rag, set())
    by_gold = outcomes(closed, {f"q{i}" for i in range(32)}) | outcomes(rag, {f"q{i}" for i in range(16)})
    both = BothOutcomes(fetched, by_gold, "f", "g")  # type: ignore[arg-type]
    found = gold_comparison(
        made, ("closed_book", "rag"), (("closed_book", "rag"),), questions, both, Resampler(SETTINGS)
    )
    first, second = found.arms
    assert (first.of_all.fetched.rate, first.of_all.gold.rate, first.of_all.change.rate) == (0.8, 0.8, 0.0)
    assert (second.of_all.own.rate, second.of_all.fetched.rate, second.of_all.gold.rate) == (0.0, 0.0, 0.4)
    assert second.of_answered.gold.rate == pytest.approx(0.5)
    change = second.of_all.change
    assert change.rate == pytest.approx(0.4)
    assert change.lower is not None and change.upper is not None and 0 < change.lower < 0.4 < change.upper
    assert (second.questions, second.responses, second.unjudged) == (40, 40, 0)
    (pair,) = found.pairs
    assert (pair.fetched.rate, pair.gold.rate) == (pytest.approx(0.8), pytest.approx(0.4))
    # A difference of 0 has an interval too.
    assert first.of_all.change.lower is not None and first.of_all.change.lower < 0


def test_what_one_source_could_not_judge_is_in_neither_rate(desk: SimpleNamespace) -> None:
    questions = [gold(i) for i in range(4)]
    made = [desk.answer(q.id, "supported") for q in questions]
    fetched = outcomes(made, {"q0", "q1"})
    by_gold = outcomes(made, {"q0"}) | {key_of(made[1]): "unscored"}
    found = gold_comparison(
        made, ("rag",), (), questions, BothOutcomes(fetched, by_gold, "f", "g"), Resampler(SETTINGS)
    )  # type: ignore[arg-type]
    (arm,) = found.arms
    assert (arm.responses, arm.unjudged) == (3, 1)
    assert arm.of_all.fetched.rate == arm.of_all.gold.rate == pytest.approx(1 / 3)


def test_a_question_that_nothing_answers_has_no_gold_passage() -> None:
    assert not names_gold(Question("q", "?", relevant_document_ids=("near",), answerable=False))
    assert not names_gold(Question("q", "?", ("Paris",)))
    assert names_gold(Question("q", "?", relevant_document_ids=("right",)))


def test_it_is_in_rows_json_and_page_and_absent_unless_judged(desk: SimpleNamespace) -> None:
    questions = [gold(i) for i in range(3)]
    made = [desk.answer(q.id, "supported", arm=arm) for q in questions for arm in ("closed_book", "rag")]
    verdicts = outcomes(made, {"q0"})
    both = BothOutcomes(verdicts, verdicts, "by <search>", "by gold")  # type: ignore[arg-type]
    config, pairs = desk.config(("closed_book", "rag"), 1), (("closed_book", "rag"),)
    found = analyse(config, made, questions, pairs, SETTINGS, FurtherVerification(gold=both))
    assert '"gold_by": "by gold"' in json.dumps(found.to_json(), allow_nan=False)
    rows = [r for r in analysis_rows(found) if r.part == "gold evidence"]
    assert len(rows) == 2 * 2 * 4 + 2
    page = '{% from "analysis.html.j2" import analysis_links, analysis_parts %}'
    page += '{{ analysis_links(a) }}{{ analysis_parts(a, "95 %") }}'
    text = template_environment().from_string(page).render(a=analysis_view(found))
    assert 'id="gold"' in text and 'href="#gold"' in text
    assert "by &lt;search&gt;" in text
    without = analyse(config, made, questions, pairs, SETTINGS)
    assert without.gold is None
    assert not any(r.part == "gold evidence" for r in analysis_rows(without))
