"""Batched verification: of answers by a collection, and of claims by given evidence.

One scorer is loaded on first use. All pairs of a batch go through it together, sorted by length.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from app.judging.answer_judge import JudgePlan
from app.judging.run_judge import load_scorer
from app.judging.verification import CheckedClaim, ClaimChecker, ClaimPair
from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge, PolicyJudging
from evaluation.outcomes import AnswerEvaluation, outcome_of
from evaluation.verifiers.context_evidence import AnsweredQuestion
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import SearchedEvidence
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import PairScorer


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Answers to a question, to be judged by the evidence that a search of a collection finds for each claim.

    stored: the collection's name in the store. Evidence depends only on question and claim, so answers with and without
    retrieval are judged by the same evidence (docs/architecture.md, rule 1).
    """

    question: str
    answers: tuple[str, ...]
    stored: str


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Claims with their evidence. words: whether to find the words that lower the support."""

    pairs: tuple[ClaimPair, ...]
    words: bool = False


class VerificationService:
    """The work functions of three MicroBatchers: for JudgeRequest, CheckRequest and PolicyJudging."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._scorer: PairScorer | None = None
        self._checker: ClaimChecker | None = None

    def judge(self, items: Sequence[JudgeRequest]) -> list[tuple[AnswerEvaluation, ...] | Exception]:
        """Return, for each item, an evaluation of every answer, in order."""
        with self._lock:
            out: list[tuple[AnswerEvaluation, ...] | Exception] = [()] * len(items)
            for stored in dict.fromkeys(item.stored for item in items):
                members = [index for index, item in enumerate(items) if item.stored == stored]
                judged = self._judge(stored, [items[index] for index in members])
                for index, evaluations in zip(members, judged, strict=True):
                    out[index] = evaluations
            return out

    def check(self, items: Sequence[CheckRequest]) -> list[tuple[CheckedClaim, ...] | Exception]:
        """Return, for each item, a result for every pair, in order."""
        with self._lock:
            if self._checker is None:
                scorer = self._opened()
                self._checker = ClaimChecker(JudgePlan(device=self._pipeline.device), lambda _name, _device: scorer)
            out: list[tuple[CheckedClaim, ...] | Exception] = [()] * len(items)
            for words in (False, True):
                members = [index for index, item in enumerate(items) if item.words == words]
                pairs = [pair for index in members for pair in items[index].pairs]
                checked = iter(self._checker.check(pairs, words) if pairs else ())
                for index in members:
                    out[index] = tuple(next(checked) for _ in items[index].pairs)
            return out

    def judge_for_policies(self, items: Sequence[PolicyJudging]) -> list[tuple[AnswerEvaluation, ...] | Exception]:
        """Return, for each item, an evaluation of every answer, in order."""
        with self._lock:
            return [*PolicyJudge(self._opened()).judge(items)]

    def policy_judge(self) -> PolicyJudge:
        """Return a judge that provides the names of its verifiers; ``judge_for_policies`` judges the answers."""
        with self._lock:
            return PolicyJudge(self._opened())

    def _judge(self, stored: str, items: Sequence[JudgeRequest]) -> list[tuple[AnswerEvaluation, ...]]:
        search = self._pipeline.search(stored)
        evidence = SearchedEvidence(search, search.retriever.generation_hash, settings=search.non_default_settings)
        # Claims are not judged together: each has its own evidence, so the answer would be repeated for every claim.
        verifier = EntailmentVerifier(self._opened(), evidence)
        to_verify: list[VerificationItem] = []
        refused: list[bool] = []
        for number, item in enumerate(items):
            question = AnsweredQuestion(str(number), item.question)
            for answer in item.answers:
                extraction = verifier.extract(question, answer)
                to_verify.append(VerificationItem(question, extraction.claims, answer))
                refused.append(extraction.refused)
        verdicts = verifier.verify(to_verify)
        evaluations = iter(
            [outcome_of(claim_verdicts, declined) for claim_verdicts, declined in zip(verdicts, refused, strict=True)]
        )
        return [tuple(next(evaluations) for _ in item.answers) for item in items]

    def _opened(self) -> PairScorer:
        if self._scorer is None:
            self._scorer = load_scorer(None, self._pipeline.device)
        return self._scorer
