"""Runs by name: found, renamed, deleted with everything of theirs; names that tell two runs from each other."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from app.runs.names import distinct_names, run_title
from data.questions import Question
from data.schema import run_questions, runs
from data.store import Store
from evaluation.errors import EvaluationError, UnknownRunError
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig
from evaluation.runs.run_store import RunStore
from evaluation.runs.run_upkeep import delete_run, rename_run

QUESTIONS = (Question("1", "How deep is the quay?"),)


def config(seed: int) -> RunConfig:
    return RunConfig(
        version="0", questions_sha256="0" * 64, arms=(ArmSpec("rag", ""),), samples=1, decoding=Decoding(0.0),
        seed=seed, verifier="reference/1", generator="g", generation="", encoder="",
    )  # fmt: skip


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def made(store: Store, seed: int, name: str = "", model: str = "reader", collection: str = "notes") -> str:
    labels = (("collection", collection), ("model", model))
    return RunStore(store).create_or_open_run(config(seed), QUESTIONS, name, labels)


def test_a_name_stands_for_its_run_and_can_be_given_later(store: Store) -> None:
    run = made(store, 1)
    assert run_title(RunStore(store).load_run(run[:8])) == "reader on notes"
    assert made(store, 1, "before the move") == run
    assert RunStore(store).load_run("before the move").id == run
    assert made(store, 1) == run  # without a name the one there is stays
    assert run_title(RunStore(store).load_run(run)) == "before the move"


def test_a_renamed_run_is_found_by_its_new_name_only(store: Store) -> None:
    one, other = made(store, 1, "one"), made(store, 2, "other")
    rename_run(store, one, "first")
    assert RunStore(store).load_run("first").id == one
    for name in ("other", " "):
        with pytest.raises(EvaluationError):
            rename_run(store, one, name)
    with pytest.raises(UnknownRunError) as caught:
        RunStore(store).load_run("fist")
    assert "'first'" in str(caught.value)
    assert {name for _, name in caught.value.known} == {"first", "other"} and other
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_name_of_several_runs_is_refused_with_their_ids(store: Store) -> None:
    ids = {made(store, seed, "same") for seed in (1, 2)}
    with pytest.raises(UnknownRunError) as caught:
        RunStore(store).load_run("same")
    assert set(caught.value.several) == ids


def test_a_deleted_run_leaves_nothing(store: Store) -> None:
    kept, gone = made(store, 1), made(store, 2)
    delete_run(store, gone)
    with store.read() as connection:
        assert connection.execute(select(runs.c.id)).scalars().all() == [kept]
        assert connection.execute(select(func.count()).select_from(run_questions)).scalar() == 1


@pytest.mark.parametrize(
    ("mine", "theirs", "shown"),
    [
        ({"name": "a"}, {"name": "b"}, ("a", "b")),
        ({"model": "m1"}, {"model": "m2"}, ("m1", "m2")),
        ({"collection": "c1"}, {"collection": "c2"}, ("c1", "c2")),
        ({"name": "a"}, {"model": "m2"}, ("reader", "m2")),
        ({"name": "long " * 20}, {"name": "b", "model": "m2"}, ("reader", "m2")),
    ],
)
def test_two_runs_get_names_that_differ(
    store: Store, mine: dict[str, str], theirs: dict[str, str], shown: tuple[str, str]
) -> None:
    infos = [RunStore(store).load_run(made(store, seed, **given)) for seed, given in ((1, mine), (2, theirs))]
    assert distinct_names(infos[0], infos[1]) == shown


def test_two_runs_that_are_called_alike_get_enough_of_their_ids(store: Store) -> None:
    info = RunStore(store).load_run(made(store, 1))
    one, other = replace(info, id="abcdefgh12"), replace(info, id="abcdefgh34")
    assert distinct_names(one, other) == ("abcdefgh1", "abcdefgh3")
