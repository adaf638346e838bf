"""Observed rates, drift, claim calibration, signals and the effect of retrieval, on hand-written samples."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest

from data.questions import EvidenceSpan, Question
from data.store import Store
from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.analysis.calibration import run_calibration
from evaluation.analysis.claim_order import SHORT, run_drift
from evaluation.analysis.detection import NO_ENTAILMENT_MODEL, run_signals
from evaluation.analysis.faithfulness import faithful_outcomes, judge_faithfulness, key_of, verifier_name
from evaluation.analysis.observed_events import observed_rates
from evaluation.analysis.retrieval_part import gold_rank, retrieval_part
from evaluation.analysis.run_analysis import analyse
from evaluation.reports.analysis_tables import analysis_markdown, analysis_rows
from evaluation.reports.analysis_view import analysis_view
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import ObservedEvent
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.layered_scorer import WrappingScorer
from model.pairs.scoring import Pair
from retrieval.chunking.chunks import Chunk

SETTINGS = Settings(bootstrap=400, permutations=199)
GREEDY, FULL = Decoding(temperature=0.0), Decoding(temperature=1.0)
CHUNKS = (Chunk("d", 0, 6, "Paris "), Chunk("d", 6, 12, "Rome! "), Chunk("e", 0, 4, "Oslo"))


def test_observed_rates_leave_out_what_could_not_be_told(desk: SimpleNamespace) -> None:
    def seen(value: bool | None) -> tuple[ObservedEvent, ...]:
        return (ObservedEvent("obeyed", value, "Vex", "the answer is empty" if value is None else ""),)

    made = [desk.answer(f"q{i}", "supported", observed=seen(i < 3)) for i in range(9)]
    made += [desk.answer("q9", "supported", observed=seen(None)), desk.answer("q10", "unscored")]
    (rate,) = observed_rates(made, Resampler(SETTINGS))
    assert (rate.arm, rate.name, rate.definite, rate.indefinite) == ("rag", "obeyed", 9, 2)
    assert rate.rate.default.rate == pytest.approx(1 / 3)
    assert dict(rate.reasons) == {"the answer is empty": 1, "why": 1}


def test_drift_needs_neighbours(desk: SimpleNamespace) -> None:
    short = [desk.answer(f"q{i}", "hallucinated") for i in range(4)]
    long = [
        desk.sample(f"q{i}", ["unverifiable"] * 2 + ["supported"] * 4, arm="long", number=n)
        for i in range(20)
        for n in range(2)
    ]
    without, found = run_drift([*short, *long], ("rag", "long"), SETTINGS)
    assert (without.found, without.reason) == (None, SHORT)
    assert found.found is not None
    # All samples are unsupported at the same positions. Positions explain this, so it is not dependence.
    assert found.found.reading in ("positions", "untested")
    assert found.found.by_position.band.rates[:3] == (1.0, 1.0, 0.0)
    assert found.found.never_unsupported[0] == 0.0


def test_claim_calibration_counts_the_other_samples(desk: SimpleNamespace) -> None:
    words = (("Paris", "supported"), ("paris.", "supported"), ("Rome", "unverifiable"))
    made = [
        desk.sample(f"q{i}", [label], words=[word], number=n)
        for i in range(12)
        for n, (word, label) in enumerate(words)
    ]
    (arm,) = run_calibration(made, ("rag",), {}, None)
    assert arm.by == "equal words"
    rows = {row.lower: (row.claims, row.support.estimate) for row in arm.found.bins if row.claims}
    # "Paris" is said by one of the two other samples, "Rome" by none.
    assert rows == {0.5: (24, 1.0), 0.0: (12, 0.0)}
    assert arm.found.high_claims == 0
    assert run_calibration(made[:1], ("rag",), {}, None) == ()


def test_confidently_false_claims_are_found(desk: SimpleNamespace) -> None:
    made = [
        desk.sample(f"q{i}", ["unverifiable" if i < 5 else "supported"], words=["Oslo"], number=n)
        for i in range(20)
        for n in range(3)
    ]
    (arm,) = run_calibration(made, ("rag",), {}, None)
    assert arm.found.high_claims == 60
    assert arm.found.confidently_false.estimate == pytest.approx(0.25)


def test_calibration_by_entailment_reads_the_question(desk: SimpleNamespace, overlap: type) -> None:
    made = [desk.sample("q", ["supported"], words=[w], number=n) for n, w in enumerate(("in Oslo", "Oslo", "Rome"))]
    (arm,) = run_calibration(made, ("rag",), {"q": "Where is it?"}, CachedEntailment(overlap(), 0.99))
    assert arm.by == "entailment by overlap/60 >=0.99"
    # "in Oslo" entails "Oslo", not the reverse.
    assert sorted((row.lower, row.claims) for row in arm.found.bins if row.claims) == [(0.0, 2), (0.5, 1)]


def signals_run(desk: SimpleNamespace) -> list[object]:
    """Return a run in which the model is uncertain and its samples differ exactly if the greedy answer is wrong."""
    made = []
    for i in range(24):
        bad = i % 3 == 0
        outcome = "hallucinated" if bad else "supported"
        made.append(desk.answer(f"q{i}", outcome, decoding=GREEDY, words=["Oslo"], logprobs=(-3.0 if bad else -0.2,)))
        for n in range(3):
            word = ("Oslo", "Rome", "Bern")[n] if bad else "Oslo"
            made.append(desk.answer(f"q{i}", "supported", decoding=FULL, words=[word], number=n, logprobs=(-1.0 - n,)))
    return made


def test_signals_tell_the_greedy_verdict(desk: SimpleNamespace, overlap: type) -> None:
    config = desk.config(samples=3, grid=(GREEDY, FULL))
    texts = {f"q{i}": "Where is it?" for i in range(24)}
    (arm,) = run_signals(config, signals_run(desk), texts, CachedEntailment(overlap(), 0.99))
    found = {d.signal: d for d in arm.detectors}
    assert (arm.answered_at, arm.sampled_at, arm.samples) == (GREEDY.label, FULL.label, 3)
    for name in ("mean token surprise", "semantic entropy, discrete", "self-inconsistency"):
        assert (found[name].questions, found[name].hallucinated) == (24, 8)
        assert found[name].auroc.estimate == 1.0
    # All questions have the same probabilities, so there is no signal.
    assert found["predictive entropy"].auroc.estimate == pytest.approx(0.5)
    assert arm.bias == pytest.approx(-(8 * 2 / 6) / 24)


def test_signals_without_a_model_or_probabilities_say_why(desk: SimpleNamespace) -> None:
    config = desk.config(samples=3, grid=(GREEDY,))
    made = [
        desk.answer("q", "supported", decoding=GREEDY),
        *(desk.answer("q", "supported", number=n) for n in range(3)),
    ]
    (arm,) = run_signals(config, made, {}, None)
    absent = {d.signal: d.absent for d in arm.detectors if not d.questions}
    assert absent["semantic entropy, discrete"] == ((NO_ENTAILMENT_MODEL, 1),)
    assert "sampling distribution are unknown" in absent["predictive entropy"][0][0]  # drawn at temperature 0.7
    assert run_signals(desk.config(samples=3), made, {}, None) == ()
    assert run_signals(desk.config(samples=1, grid=(GREEDY,)), made, {}, None) == ()


def test_where_the_gold_passage_was_shown(desk: SimpleNamespace) -> None:
    shown = desk.answer("q", "supported", chunks=CHUNKS).chunks
    assert gold_rank(Question("q", "?", evidence=(EvidenceSpan("d", 7, 9),)), shown) == 2
    assert gold_rank(Question("q", "?", evidence=(EvidenceSpan("d", 12, 13),)), shown) is None
    assert gold_rank(Question("q", "?", relevant_document_ids=("e",)), shown) == 3
    assert gold_rank(Question("q", "?", relevant_document_ids=("x",)), shown) is None


def test_rates_by_the_place_of_the_gold_passage(desk: SimpleNamespace) -> None:
    questions = [
        *(Question(f"first{i}", "?", relevant_document_ids=("d",)) for i in range(4)),
        *(Question(f"third{i}", "?", relevant_document_ids=("e",)) for i in range(2)),
        *(Question(f"never{i}", "?", relevant_document_ids=("x",)) for i in range(3)),
        Question("unknown", "?"),
    ]
    made = [desk.answer(q.id, "hallucinated" if q.id[:5] == "never" else "supported", chunks=CHUNKS) for q in questions]
    made.append(desk.answer("first0", "hallucinated", arm="closed_book"))
    (part,) = retrieval_part(made, ("closed_book", "rag"), questions, None, "", Resampler(SETTINGS))
    assert (part.known, part.shown, part.unknown, part.faithful) == (9, 6, 1, None)
    assert [(r.rank, r.questions, r.hallucinated.rate) for r in part.rows] == [(1, 4, 0.0), (3, 2, 0.0), (None, 3, 1.0)]


class Doubting(WrappingScorer):
    """A wrapper of another scorer that supports nothing."""

    name = "doubting"

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return (0.0,) * len(pairs)


def test_faithfulness_of_answers_to_unanswerable_questions_is_not_read(
    desk: SimpleNamespace, overlap: type, database_url: str
) -> None:
    questions = [Question("q0", "Where?"), Question("q1", "Where?", answerable=False)]
    made = [desk.sample(q.id, ["supported"], words=["Paris"], chunks=CHUNKS, number=0) for q in questions]
    scorer = Doubting(overlap())
    with Store.open(database_url) as store:
        runs, kept = RunStore(store), ExtraVerdicts(store)
        run = runs.create_or_open_run(desk.config(samples=1), questions)
        runs.save_samples(run, made)
        judge_faithfulness(run, made, questions, scorer, 0.5, kept)
        stored = kept.load(run, verifier_name(scorer, 0.5))
    assert [stored[key_of(record)][0].label for record in made] == ["unverifiable", "supported"]


def test_faithful_beside_factual(desk: SimpleNamespace, overlap: type, database_url: str) -> None:
    answers = (("Paris", "supported"), ("Paris", "unverifiable"), ("Leith", "supported"), ("Bern", "unverifiable"))
    questions = [Question(f"q{i}", "Where?") for i in range(4)]
    made = [
        desk.sample(f"q{i}", [label], words=[word], chunks=CHUNKS, number=0) for i, (word, label) in enumerate(answers)
    ]
    scorer = overlap()
    with Store.open(database_url) as store:
        runs, kept = RunStore(store), ExtraVerdicts(store)
        run = runs.create_or_open_run(desk.config(samples=1), questions)
        runs.save_samples(run, made)
        judge_faithfulness(run, made, questions, scorer, 0.5, kept)
        calls = len(scorer.calls)
        judge_faithfulness(run, made, questions, scorer, 0.5, kept)
        assert len(scorer.calls) == calls  # what is judged is not judged again
        stored = kept.load(run, verifier_name(scorer, 0.5))
        assert runs.load_samples(run) == tuple(made)  # the run's own verdicts are untouched
        assert kept.verifiers(run) == (verifier_name(scorer, 0.5), "judge/1")
    assert set(stored) == {key_of(r) for r in made}
    (part,) = retrieval_part(made, ("rag",), questions, faithful_outcomes(stored), "v", Resampler(SETTINGS))
    table = part.faithful
    assert table is not None
    shares = (table.both.rate, table.faithful_only.rate, table.factual_only.rate, table.neither.rate)
    assert shares == (0.25, 0.25, 0.25, 0.25)
    assert (table.judged, table.unjudged) == (4, 0)


def test_the_whole_is_finite_json_and_rows(desk: SimpleNamespace, overlap: type) -> None:
    config = desk.config(samples=3, grid=(GREEDY, FULL))
    made = [
        *signals_run(desk),
        *(desk.sample(f"q{i}", ["supported", "unverifiable"], chunks=CHUNKS) for i in range(24)),
    ]
    questions = [Question(f"q{i}", "Where is it?", relevant_document_ids=("d",)) for i in range(24)]
    found = analyse(config, made, questions, (), SETTINGS)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert '"rates"' in text
    rows = analysis_rows(found)
    assert {r.part for r in rows} == {"grid", "retrieval", "drift", "claim calibration", "signals"} - (
        {"claim calibration"} if not found.calibration else set()
    )
    assert all(r.rate is None or math.isfinite(r.rate) for r in rows)
    assert all(r.reason for r in rows if r.rate is None)
    assert sum(line.startswith("| grid") for line in analysis_markdown(found)) == sum(r.part == "grid" for r in rows)
    assert {name.split("-")[0] for name, _ in analysis_view(found).charts} >= {"grid", "drift", "signals"}
