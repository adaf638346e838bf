from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from app.runs.tables import pairs_table
from app.runs.unscored_lines import unscored_lines
from tests.evaluation.test_summary import summary

GONE = "the collection holds none of the gold passages of question {} (documents {}): index them"


def printed(**arms: list[str]) -> str:
    console = Console(width=80)
    with console.capture() as capture:
        console.print(pairs_table(summary(**arms)))
    return capture.get()


def test_a_difference_with_unscored_answers_says_all_that_it_could_be() -> None:
    shown = printed(closed_book=["hh", "hh", "hh", "ss"], rag=["uu", "uu", "uu", "uu"])
    assert "undefined" in shown and "{-25.0,+75.0}" in shown and "4 unscored" in shown
    assert "+75.0 %" not in shown and "fixed\n" not in shown.split("pair")[-1]
    shown = printed(closed_book=["hh", "hh", "hh", "ss"], rag=["ss", "ss", "hs", "uu"])
    assert "1 unscored" in shown and "{" in shown
    shown = printed(closed_book=["hh", "hh", "hh", "ss"], rag=["ss", "ss", "hs", "ss"])
    assert "{" not in shown and "unscored" not in shown


@pytest.fixture
def data() -> Any:
    def sample(reason: str) -> SimpleNamespace:
        return SimpleNamespace(outcome="unscored" if reason else "supported", reason=reason)

    def arm(name: str, *reasons: str) -> SimpleNamespace:
        return SimpleNamespace(arm=name, samples=[sample(reason) for reason in reasons])

    questions = [
        [arm("rag", "", "it is empty"), arm("oracle", *[GONE.format(f"'q-{n}'", f"{n}.md")] * 2)] for n in (7, 8)
    ]
    questions.append([arm("rag", "", ""), arm("oracle", "one", "two")])
    questions.append([arm("rag", "", ""), arm("oracle", "three", "four")])
    return SimpleNamespace(questions=[SimpleNamespace(arms=arms) for arms in questions])


def test_reasons_are_counted_by_arm_and_said_with_the_names_of_the_first(data: Any) -> None:
    assert unscored_lines(data) == [
        "rag: 2 of 8 responses are unscored",
        "  2: it is empty",
        "oracle: 8 of 8 responses are unscored",
        "  4: " + GONE.format("'q-7'", "7.md"),
        "  1: one",
        "  1: two",
        "  and 2 more reasons, by answer in the report",
    ]
