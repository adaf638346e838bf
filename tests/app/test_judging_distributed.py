"""Judging on workers gives the same outcomes, scores, evidence, order and failures as judging in this process."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from app.judging.answer_batches import AT_ONCE
from app.judging.answer_judge import FAILURES_IN_A_ROW, JudgePlan
from app.judging.distributed import open_claim_checker
from app.judging.verification import ClaimChecker, ClaimPair
from app.scoring.score import ScorePlan, score
from data.answers import answers_from_rows
from data.block_work import in_order
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.verifiers.evidence import EvidenceText
from model.errors import ModelError
from model.pairs.scoring import Pair
from tests.block_executors import ThreadExecutor

COUNT = 3 * AT_ONCE + 5
ROWS: list[dict[str, Any]] = [
    {
        "id": f"a{n}",
        "question": f"How long is warranty {n % 40}?",
        "answer": f"It lasts {n % 7} years. The Heron {n} is red.",
        "contexts": [f"Warranty {n % 40} lasts {n % 5} years.", f"The Heron {n} is {'red' if n % 3 else 'blue'}."],
        "references": [f"{n % 5} years"] if n % 4 else [],
    }
    for n in range(COUNT)
]


class Failing(TokenOverlapScorer):
    """Token overlap that raises an error or gives NaN for claims with a given word."""

    def __init__(self, word: str, *, dies: bool) -> None:
        self._word, self._dies = word, dies

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        hit = [self._word in pair.claim for pair in pairs]
        if self._dies and any(hit):
            raise ModelError("out of memory")
        return tuple(math.nan if bad else s for bad, s in zip(hit, super().score(pairs), strict=True))


def opened(word: str, dies: bool, name: str | None, device: str) -> Failing:
    return Failing(word, dies=dies)


def both(plan: JudgePlan, rows: Sequence[dict[str, Any]] = ROWS, load: Any = None) -> tuple[Any, Any, ThreadExecutor]:
    executor = ThreadExecutor(2)
    file = answers_from_rows(rows)
    here = score(file, ScorePlan(plan), load=load)
    there = score(file, ScorePlan(plan), load=load, executor=executor)
    return here, there, executor


@pytest.mark.parametrize("evidence", ["contexts", "references"])
@pytest.mark.parametrize("choice", ["auto", "entailment"])
def test_results_are_the_same(choice: Any, evidence: Any) -> None:
    here, there, executor = both(JudgePlan(choice, evidence, "token-overlap", device="auto"))
    assert there.answers == here.answers
    assert (there.kind, there.measure, there.verifier, there.notes) == (
        here.kind, here.measure, here.verifier, here.notes,
    )  # fmt: skip
    (group,) = executor.groups
    assert group.models and group.blocks == 6  # 8, 16, 32, 64, 64 and the rest


def test_references_alone_need_no_workers() -> None:
    rows = [{key: value for key, value in row.items() if key != "contexts"} for row in ROWS]
    here, there, executor = both(JudgePlan(model="token-overlap"), rows)
    assert here.kind == "references"
    assert there.answers == here.answers and executor.groups == []


@pytest.mark.parametrize("dies", [True, False])
def test_answers_on_which_the_verifier_fails_are_the_same(dies: bool) -> None:
    load = partial(opened, "Heron 30", dies)
    here, there, _ = both(JudgePlan("entailment"), load=load)
    assert there.failed == here.failed == 1
    assert there.answers == here.answers


def test_a_verifier_that_always_fails_is_not_called_to_the_end() -> None:
    here, there, executor = both(JudgePlan("entailment"), load=partial(opened, "", True))
    assert there.failed == here.failed == COUNT
    assert sum("not called again" in a.evaluation.reason for a in there.answers) == COUNT - FAILURES_IN_A_ROW
    assert executor.groups[0].blocks <= executor.groups[0].ahead < 6


def test_known_answers_are_not_sent() -> None:
    here, _, _ = both(JudgePlan("entailment", model="token-overlap"))
    known = {a.key: a.evaluation for a in here.answers[:-3]}
    executor = ThreadExecutor(2)
    plan = ScorePlan(JudgePlan("entailment", model="token-overlap"))
    there = score(answers_from_rows(ROWS), plan, known=known, executor=executor)
    assert there.answers == here.answers
    assert executor.groups[0].blocks == 1


def test_claims_are_checked_as_here() -> None:
    plan = JudgePlan("entailment", model="token-overlap", device="auto")
    pairs = [
        ClaimPair(f"Heron {n} is red. It is {n % 3} years old.", (EvidenceText("d", f"Heron {n} is red.", 0),))
        for n in range(50)
    ]
    blocks = [pairs[start : start + 8] for start in range(0, 50, 8)]
    workers = ThreadExecutor(2).workers(partial(open_claim_checker, plan, words=True))
    there = [checked for found in in_order(workers, blocks) for checked in found]
    checker = ClaimChecker(JudgePlan("entailment", model="token-overlap"))
    assert there == [checked for block in blocks for checked in checker.check(block, words=True)]
    workers.close()
