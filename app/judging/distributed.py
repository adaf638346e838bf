"""Judge answers and claims in the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.judging.answer_batches import JudgeBatches, JudgedAnswer, judge_batch
from app.judging.answer_judge import (
    AnswerJudge,
    JudgePlan,
    Kind,
    Measure,
    ScorerLoader,
    on_this_machine,
    verifier_by_texts,
)
from app.judging.scorers import load_scorer
from app.judging.verification import CheckedClaim, ClaimChecker, ClaimPair
from data.answer_records import AnswerRecord
from data.block_work import BlockExecutor, in_order
from data.questions import Question
from evaluation.verifiers.cached_scorer import CachedScorer


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """Answers that a worker judges, with their questions and evidence. For the fields see AnswerJudge."""

    records: tuple[AnswerRecord, ...]
    questions: tuple[Question, ...]
    missing: tuple[str, ...]
    texts: Mapping[str, Sequence[str]]
    kind: Kind
    measure: Measure


class AnswerBlockJudge:
    """Function that judges blocks in a worker, with one scorer."""

    def __init__(self, plan: JudgePlan, load: ScorerLoader | None = None) -> None:
        """Load the scorer. The device "auto" is resolved on the worker's machine. Raises the errors of loading."""
        plan = on_this_machine(plan)
        self._plan, self._scorer = plan, (load or load_scorer)(plan.model, plan.device)

    def __call__(self, block: AnswerBlock) -> tuple[JudgedAnswer, ...]:
        """Return the judged answers. Their indices are those in the block."""
        # Each block has its own cache, so that scores do not depend on earlier blocks of the worker.
        verifier = verifier_by_texts(block.kind, block.texts, self._plan, CachedScorer(self._scorer))
        judge = AnswerJudge(verifier, block.questions, block.missing, block.measure, block.kind)
        return tuple(judge_batch(block.records, judge, range(len(block.records))))


def judge_in_workers(
    executor: BlockExecutor,
    records: Sequence[AnswerRecord],
    judge: AnswerJudge,
    plan: JudgePlan,
    load: ScorerLoader | None = None,
) -> JudgeBatches | None:
    """Return a function that judges batches in the executor's workers, or None if the judge has no scorer.

    load: picklable function that loads the scorer.
    """
    if not judge.texts:
        return None
    workers = executor.workers(partial(AnswerBlockJudge, plan, load))

    def block(indices: Sequence[int]) -> AnswerBlock:
        questions = tuple(judge.questions[i] for i in indices)
        return AnswerBlock(
            tuple(records[i] for i in indices),
            questions,
            tuple(judge.missing[i] for i in indices),
            {question.id: judge.texts[question.id] for question in questions if question.id in judge.texts},
            judge.kind,
            judge.measure,
        )

    def judged(batches: Sequence[Sequence[int]]) -> Iterator[Sequence[JudgedAnswer]]:
        results = in_order(workers, map(block, batches))
        for indices, found in zip(batches, results, strict=True):
            yield [replace(one, index=i) for i, one in zip(indices, found, strict=True)]

    return judged


def open_claim_checker(plan: JudgePlan, *, words: bool) -> Callable[[Sequence[ClaimPair]], tuple[CheckedClaim, ...]]:
    """Return a function for workers that checks claims; see ``ClaimChecker.check``.

    The device "auto" is resolved on the worker's machine. Raises the errors of ClaimChecker.
    """
    return partial(ClaimChecker(on_this_machine(plan)).check, words=words)
