"""Arms named on a command line."""

from __future__ import annotations

import pytest

from app.runs.arms import open_arms
from evaluation.errors import EvaluationError
from evaluation.modifiers.arm_names import parse_arms


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("closed_book,rag,oracle", ["closed_book", "rag", "oracle"]),
        ("rag+distractors:3 , oracle+position:2", ["rag+distractors:3", "oracle+position:2"]),
        ("rag+position:each", ["rag+position:1", "rag+position:2", "rag+position:3"]),
        ("sycophancy,injection", ["closed_book+sycophancy", "rag+injection"]),
        ("few_shot,chain_of_thought", ["closed_book+few_shot:3", "closed_book+chain_of_thought"]),
        ("oracle+injection:last+sycophancy:sure", ["oracle+injection:last+sycophancy:sure"]),
        ("rag+sycophancy:unsure+injection:first", ["rag+sycophancy+injection"]),
        (
            "rag+abstain+strip,rag+best_of_n,rag+abstain+best_of_n:08",
            ["rag+strip+abstain", "rag+best_of_n:4", "rag+best_of_n:8+abstain"],
        ),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [arm.text for arm in parse_arms(text, 3)] == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ragg", "'ragg'.*mean rag"),
        ("rag+injektion", "'injektion'.*mean injection"),
        ("rag,", "empty"),
        ("distractors:3", "rag.distractors:3"),
        ("rag+distractors", "distractors"),
        ("rag+distractors:0", "'0'"),
        ("rag+position:x", "1 to k"),
        ("rag+chain_of_thought:2", "no value"),
        ("rag+injection+injection:last", "injection twice"),
        ("rag+sycophancy:loud", "sure or unsure"),
        ("strip", "rag.strip"),
        ("oracle+strip", "strip.*rag"),
        ("rag+distractors:2+strip", "strip.*rag"),
        ("rag+best_of_n:1", "at least 2"),
        ("rag+strip:0.5", "no value"),
        ("rag+stripp", "mean strip"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        parse_arms(text, 3)


def test_arms_call_themselves_as_they_were_parsed() -> None:
    named = parse_arms("closed_book,sycophancy:sure,closed_book+few_shot:2+chain_of_thought+injection:last", 4)
    assert [a.name for a in open_arms(named, 4, None)] == [n.text for n in named]
    assert [n.searches for n in parse_arms("closed_book,sycophancy,rag,closed_book+distractors:1", 4)] == [
        *(False, False, True, True)
    ]
