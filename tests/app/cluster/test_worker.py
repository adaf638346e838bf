from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from app.cluster.worker import BlockRunner, Done, Failed, differences, node_facts, portable
from data.errors import StoreBusyError
from generation.errors import ParameterError
from plumbline_errors import PlumblineError
from retrieval.errors import RetrievalError


class UnreadableError(PlumblineError):
    """An exception with two arguments, which pickling loses."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


@pytest.mark.parametrize("error", [RetrievalError("no vector"), StoreBusyError("busy"), ValueError("bad 3")])
def test_an_error_that_travels_keeps_its_type(error: Exception) -> None:
    sent = pickle.loads(pickle.dumps(portable(error)))
    assert (type(sent), str(sent)) == (type(error), str(error))


def test_an_error_that_does_not_travel_keeps_its_traceback() -> None:
    for error in (UnreadableError("a", "b"), KeyError("lost")):
        sent = portable(error)
        assert type(sent) is RuntimeError
        assert str(error) in str(sent) and type(error).__name__ in str(sent)


def test_a_worker_opens_once_and_answers_errors() -> None:
    opened = []

    def make() -> object:
        opened.append(1)
        return lambda block: 6 // block

    runner = BlockRunner(make, 1)
    assert not opened
    assert [runner.run(2), runner.run(3)] == [Done(3), Done(2)]
    failed = runner.run(0)
    assert isinstance(failed, Failed) and "ZeroDivisionError" in str(failed.error)
    assert runner.run(1) == Done(6)
    assert len(opened) == 1


def test_a_worker_that_cannot_open_says_why_for_every_block() -> None:
    def make() -> object:
        raise ParameterError("model", "no such model")

    runner = BlockRunner(make, 1)
    for _ in range(2):
        failed = runner.run(1)
        assert isinstance(failed, Failed) and "no such model" in str(failed.error)


def test_versions_that_differ_are_named() -> None:
    here = node_facts()
    assert differences(here, here) == ()
    packages = dict(here.packages)
    assert packages["plumbline-rag"] and packages["torch"]
    same = replace(here, packages=tuple((packages | {"torch": packages["torch"].partition("+")[0] + "+cu130"}).items()))
    assert differences(here, same) == ()
    there = replace(here, python="3.9.1", packages=tuple((packages | {"numpy": "1.0", "torch": ""}).items()))
    assert differences(here, there) == (
        f"Python 3.9.1 (here {here.python})",
        f"torch missing (here {packages['torch']})",
        f"numpy 1.0 (here {packages['numpy']})",
    )
