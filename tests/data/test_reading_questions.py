"""The questions written for this project: every answer occurs in its passage, and tests share no training data."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data.excerpts import read_excerpt
from data.reading_examples import load_reading
from tests.data.sample_files import SAMPLES, sample_lines, sample_responses

FOLDER = SAMPLES / "reading_questions"
OWN = ["train_own", "test_own"]
ENCYCLOPEDIA = ["train_encyclopedia", "test_encyclopedia"]
LONGEST = 12  # words of an answer, too short to reproduce a sentence of the source


def _lines(name: str) -> list[dict[str, Any]]:
    return sample_lines(FOLDER / f"{name}.jsonl.bz2")


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.jsonl.bz2"))


@pytest.mark.parametrize("name", OWN)
def test_answers_and_wrong_answers_stand_in_the_passage(name: str) -> None:
    found = load_reading([FOLDER / f"{name}.jsonl.bz2"])
    for example in found.examples:
        assert example.context
        for text in (*example.answers, *example.wrong):
            assert text in example.context
        for wrong in example.wrong:
            assert not any(
                a.casefold() in wrong.casefold() or wrong.casefold() in a.casefold() for a in example.answers
            )


@pytest.mark.parametrize("name", ENCYCLOPEDIA)
def test_nothing_of_the_encyclopedia_is_copied_but_short_answers(name: str) -> None:
    for line in _lines(name):
        assert set(line) == {"question", "answers", "wrong", "answerable", "source", "excerpt"}
        assert len(read_excerpt(line["excerpt"]).sha256) == 64
        assert all(len(text.split()) <= LONGEST for text in (*line["answers"], *line["wrong"]))


def test_no_question_is_asked_twice_of_a_passage() -> None:
    for path in _files():
        lines = _lines(path.name.split(".")[0])
        pairs = [(json.dumps(line.get("excerpt", line.get("context"))), line["question"].casefold()) for line in lines]
        assert len(pairs) == len(set(pairs))


def test_training_has_no_passage_of_a_test() -> None:
    own, tests = ({line["context"] for line in _lines(name)} for name in OWN)
    assert own.isdisjoint(tests)
    articles, others = ({line["excerpt"]["document"] for line in _lines(name)} for name in ENCYCLOPEDIA)
    assert articles.isdisjoint(others)


def test_all_passages_of_our_own_are_of_the_splits_for_training() -> None:
    """A reader may be trained on them, so they must not be from the splits that test verifiers."""
    evidence: dict[str, set[str]] = {"train": set(), "test": set()}
    for folder in ("natural_answers", "labelled_answers"):
        for response in sample_responses(SAMPLES / folder):
            evidence[response.split].add(response.evidence.strip())
    contexts = {line["context"].strip() for name in OWN for line in _lines(name)}
    assert contexts <= evidence["train"]
    assert contexts.isdisjoint(evidence["test"])


def test_the_card_counts_what_is_there() -> None:
    card = (FOLDER / "DATACARD.md").read_text("utf-8")
    told = {
        (file, source): tuple(map(int, counts))
        for file, source, *counts in re.findall(r"\| (\w+) \| (\w+) \| (\d+) \| (\d+) \| (\d+) \|", card)
    }
    counted = {}
    for path in _files():
        name = path.name.split(".")[0]
        lines = _lines(name)
        for source in {line["source"] for line in lines}:
            own = [line for line in lines if line["source"] == source]
            passages = {json.dumps(line.get("excerpt", line.get("context"))) for line in own}
            kinds = Counter(line["answerable"] for line in own)
            counted[name, source] = (len(passages), kinds[True], kinds[False])
    assert told == counted
