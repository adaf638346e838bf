"""A decoding grid: all settings from one prompt, greedy once, ids of earlier runs unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from data.store import Store
from evaluation.errors import EvaluationError
from evaluation.runs.dry_run import probe
from evaluation.runs.experiment import RunOptions, run_experiment
from evaluation.runs.run_config import Decoding, config_from_json, config_to_json
from evaluation.runs.run_store import Cell, RunStore
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from generation.completion import Completion
from generation.generator import GenerationTask

GRID = (Decoding(temperature=0.0), Decoding(temperature=1.0), Decoding(temperature=1.0, top_p=0.9))


def grid_config(lab: SimpleNamespace, samples: int = 3) -> object:
    return lab.config(samples=samples, grid=GRID)


@pytest.mark.drill
def test_every_setting_is_drawn_from_one_prompt(lab: SimpleNamespace, store: Store) -> None:
    class Batch(lab.Parrot):
        def __init__(self) -> None:
            self.prompts, self.calls = 0, []

        def prompt(self, *args: object) -> object:
            self.prompts += 1
            return super().prompt(*args)

        def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
            self.calls.append(len(tasks))
            assert len({id(task.prompt) for task in tasks}) == 1
            return tuple(self.generate(t.prompt, t.params, t.seeds) for t in tasks)

    parrot, runs, config = Batch(), RunStore(store), grid_config(lab)
    result = run_experiment(config, lab.QUESTIONS, lab.arms(), parrot, ReferenceVerifier(), runs)
    cells = len(lab.QUESTIONS) * len(lab.ARMS)
    assert parrot.prompts == cells - 1  # one question has no gold passage to show
    assert parrot.calls == [4] * (cells - 1)
    assert (result.total, result.complete) == (cells * (3 + 1 + 3 + 3), True)
    every = runs.load_samples(result.run_id, every_decoding=True)
    by_label = {d.label: sum(r.decoding == d.label for r in every) for d in config.decodings}
    assert list(by_label.values()) == [cells * 3, cells, cells * 3, cells * 3]
    for r in every:
        assert r.seed == derive_seed(11, r.question_id, r.arm, r.decoding, r.sample)


def test_other_readers_of_a_run_see_the_headline_only(lab: SimpleNamespace, store: Store) -> None:
    runs, config = RunStore(store), grid_config(lab)
    run_id = run_experiment(config, lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), runs).run_id
    plain = run_experiment(lab.config(), lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), runs).run_id
    assert plain != run_id
    assert runs.load_samples(run_id) == runs.load_samples(plain)  # a grid beside it changes no sample


def test_a_grid_resumes_by_whole_cells(lab: SimpleNamespace, store: Store) -> None:
    runs, config = RunStore(store), grid_config(lab)
    given = (config, lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), runs)
    first = run_experiment(*given, RunOptions(limit=5))
    assert (first.drawn, first.complete) == (50, False)
    second = run_experiment(*given)
    assert (second.resumed, second.complete) == (50, True)


def test_a_config_with_a_grid_is_read_back_and_one_without_keeps_its_id(lab: SimpleNamespace) -> None:
    config = grid_config(lab)
    assert config_from_json(config_to_json(config), "x") == config
    assert "grid" not in config_to_json(lab.config())
    with pytest.raises(EvaluationError, match="twice"):
        lab.config(grid=(Decoding(),))


def test_a_dry_run_counts_what_is_left_and_keeps_nothing(lab: SimpleNamespace, store: Store) -> None:
    runs, config = RunStore(store), grid_config(lab)
    ticks = iter(float(t) for t in range(1000))
    done = frozenset({Cell("q0", "rag"), Cell("q1", "rag")})
    found = probe(config, lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), done, clock=lambda: next(ticks))
    assert (found.cells, found.committed, found.prompts) == (18, 2, 16)
    assert found.generations == 16 * 10
    assert found.prompt_tokens == 16 * 3  # the parrot's prompts have three tokens, its answers one
    assert found.new_tokens == 16 * 10
    assert found.most_new_tokens == 16 * 10 * 64
    assert found.seconds == found.slowest_s == 16.0
    assert runs.list_runs() == ()


def test_a_dry_run_of_nothing_left_says_so(lab: SimpleNamespace) -> None:
    arms = lab.arms("closed_book")
    done = frozenset(Cell(q.id, "closed_book") for q in lab.QUESTIONS)
    config = lab.config(chosen=arms)
    found = probe(config, lab.QUESTIONS, arms, lab.Parrot(), ReferenceVerifier(), done)
    assert (found.generations, found.seconds, found.probed) == (0, None, 0)
