"""The experiment end to end with small real parts: outcomes, seeds, and kills at every commit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from data.store import Store
from evaluation.runs.experiment import Progress, RunOptions, run_experiment
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.reference_verifier import ReferenceVerifier


class Stop(BaseException):
    """Raised where a test pulls the plug."""


def test_every_question_gets_n_samples_in_every_arm(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    result = lab.run(runs)
    records = runs.load_samples(result.run_id)
    wanted = [(q.id, a, s) for q in lab.QUESTIONS for a in lab.ARMS for s in range(lab.N)]
    assert [(r.question_id, r.arm, r.sample) for r in records] == wanted
    assert (result.total, result.drawn, result.resumed, result.failed) == (54, 54, 0, 3)
    assert result.complete
    assert runs.load_run(result.run_id).status == "finished"
    for r in records:
        assert r.seed == derive_seed(11, r.question_id, r.arm, Decoding().label, r.sample)
        assert (r.completion is None) == (r.question_id == "bare" and r.arm == "oracle")


def test_outcomes_follow_from_what_was_said(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    records = runs.load_samples(lab.run(runs).run_id)
    by_id = {q.id: q for q in lab.QUESTIONS}
    seen = set()
    for r in records:
        question, outcome = by_id[r.question_id], r.evaluation.outcome
        seen.add(outcome)
        if r.completion is None:
            assert (outcome, r.failure) == ("unscored", "gold")
            assert "names no evidence" in r.evaluation.reason
        elif r.completion.text == "I don't know.":
            assert (outcome, r.evaluation.verdicts) == ("abstained", ())
        elif not question.answerable:
            assert outcome == "hallucinated"
        elif not question.references:
            assert outcome == "unscored"
            assert "no reference" in r.evaluation.reason
        else:
            assert outcome == ("supported" if r.completion.text in question.references else "hallucinated")
    assert seen == {"supported", "hallucinated", "abstained", "unscored"}


def test_what_was_shown_is_kept(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    records = runs.load_samples(lab.run(runs).run_id)
    rag = next(r for r in records if r.arm == "rag")
    assert [c.text for c in rag.chunks] == ["Paris ", "Rome! "]
    assert rag.omitted == ("d:12-18",)
    assert all(r.chunks == () for r in records if r.arm == "closed_book")
    oracle = next(r for r in records if r.arm == "oracle" and r.question_id == "q2")
    assert [c.text for c in oracle.chunks] == ["Leith "]


@pytest.mark.parametrize(("after", "error"), [(False, KeyboardInterrupt), (True, Stop), (True, RuntimeError)])
def test_killed_at_every_commit_and_resumed_equals_undisturbed(
    lab: SimpleNamespace, store: Store, tmp_path: Path, after: bool, error: type[BaseException]
) -> None:
    full = RunStore(store)
    expected = full.load_samples(lab.run(full).run_id)
    cells = len(lab.QUESTIONS) * len(lab.ARMS)
    with Store.open(f"sqlite:///{tmp_path / 'killed.db'}") as other:
        for at in range(1, cells + 1):
            # Each call gets one commit further before the plug is pulled; resumed cells are not drawn again.
            with pytest.raises(error):
                lab.run(lab.Fragile(other, 1 if after else 2, after, error))
            runs = RunStore(other)
            run_id = lab.config().run_id
            assert runs.load_run(run_id).status == ("failed" if issubclass(error, Exception) else "interrupted")
            assert runs.load_samples(run_id) == expected[: at * lab.N]
            if at == cells - 1 and not after:
                break
        result = lab.run(RunStore(other))
        assert result.complete
        assert result.resumed == (cells if after else cells - 1) * lab.N
        assert RunStore(other).load_samples(result.run_id) == expected


def test_resume_draws_nothing_twice(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    first = lab.run(runs, options=RunOptions(limit=4))
    assert (first.drawn, first.resumed, first.complete) == (12, 0, False)
    assert runs.load_run(first.run_id).status == "interrupted"
    second = lab.run(runs)
    assert (second.drawn, second.resumed, second.complete) == (42, 12, True)

    def refuse(question: str) -> str:
        raise AssertionError(question)

    third = lab.run(runs, lab.Scripted(refuse))
    assert (third.drawn, third.resumed, third.failed) == (0, 54, 0)


def test_samples_do_not_depend_on_order_or_number(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    some = {(r.question_id, r.arm, r.sample): r for r in runs.load_samples(lab.run(runs).run_id)}
    turned, chosen = lab.QUESTIONS[::-1], lab.arms(*lab.ARMS[::-1])
    more = lab.config(turned, chosen, samples=5)
    result = run_experiment(more, turned, chosen, lab.Parrot(), ReferenceVerifier(), runs)
    assert result.run_id != lab.config().run_id
    many = {(r.question_id, r.arm, r.sample): r for r in runs.load_samples(result.run_id)}
    assert {k: many[k] for k in some} == some


def test_another_seed_is_another_run(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    first = lab.run(runs)
    other = lab.config(seed=12)
    second = run_experiment(other, lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), runs)
    assert second.run_id != first.run_id
    assert second.resumed == 0
    # False alarm: 45 drawn answers equal by chance, below 0.6 ** 45.
    expected = [[r.completion and r.completion.text for r in runs.load_samples(i.run_id)] for i in (first, second)]
    assert expected[0] != expected[1]


def test_progress_counts_samples(lab: SimpleNamespace, store: Store) -> None:
    seen: list[Progress] = []
    ticks = iter(range(1000))
    runs = RunStore(store)
    lab.run(runs, options=RunOptions(limit=2))
    lab.run(runs, progress=seen.append, clock=lambda: float(next(ticks)))
    assert [p.done for p in seen] == list(range(6, 55, 3))
    assert {(p.total, p.resumed) for p in seen} == {(54, 6)}
    assert (seen[0].rate, seen[0].remaining_s) == (None, None)
    assert seen[1].rate == pytest.approx(3 / 2)
    assert seen[1].remaining_s == pytest.approx(30.0)


def test_a_call_that_draws_nothing_keeps_the_time_at_which_the_run_finished(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    run_id = lab.run(runs).run_id
    finished = runs.finished_at(run_id)
    assert finished is not None and runs.finished_at("0" * 64) is None
    assert lab.run(runs).drawn == 0 and runs.finished_at(run_id) == finished
    runs.set_status(run_id, "interrupted")
    assert runs.finished_at(run_id) is None and lab.run(runs).complete
    later = runs.finished_at(run_id)
    assert later is not None and later > finished
