"""PolicyJudge: scores answers as the run did that a certificate was calibrated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.retrieval.passages import Passages
from evaluation.analysis.faithfulness import verifier_name
from evaluation.outcomes import AnswerEvaluation, Evidence, Verdict, outcome_of
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import THRESHOLD, EntailmentVerifier
from evaluation.verifiers.evidence import DEFAULT_K, GoldEvidence, GoldOrSearchedEvidence, SearchedEvidence
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier
from evaluation.verifiers.verifier import VerificationItem
from generation.completion import Completion
from generation.prompt import Prompt
from model.pairs.scoring import PairScorer
from retrieval.search import Search


@dataclass(frozen=True, slots=True)
class PolicyJudging:
    """Answers to a question. search: of the collection that judges, None to judge by the passages of each prompt."""

    question: str
    answers: tuple[tuple[Prompt, Completion], ...]
    search: Search | None = None


class PolicyJudge:
    """One scorer behind the verifiers that a query can have: no reference answer, no gold passage."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    @property
    def scorer_name(self) -> str:
        """Name of the network that scores."""
        return self._scorer.name

    @property
    def name(self) -> str:
        """Of the verifier that reads the passages shown, as ``evaluate --faithfulness`` stores its verdicts."""
        return verifier_name(self._scorer, THRESHOLD)

    def searching_names(self, search: Search) -> tuple[str, ...]:
        """Of the verifiers that search a collection for each claim, as runs name them: routed, and alone."""
        entailment = self._searching(search)
        return RoutedVerifier(ReferenceVerifier(), entailment).name, entailment.name

    def evaluate(self, question: str, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """Evaluations of answers to one question by the passages of their prompts. Raises what scoring raises."""
        return self.judge([PolicyJudging(question, tuple(answers))])[0]

    def judge(self, items: Sequence[PolicyJudging]) -> list[tuple[AnswerEvaluation, ...]]:
        """For each item one evaluation an answer, in order. Items that need no search are scored together.

        Raises what scoring and searching raise.
        """
        out: list[tuple[AnswerEvaluation, ...]] = [()] * len(items)
        searches = list(dict.fromkeys(item.search for item in items))
        for search in searches:
            members = [i for i, item in enumerate(items) if item.search is search]
            for i, found in zip(members, self._judge([items[i] for i in members], search), strict=True):
                out[i] = found
        return out

    def _judge(self, items: Sequence[PolicyJudging], search: Search | None) -> list[tuple[AnswerEvaluation, ...]]:
        prompts = {id(prompt): prompt for item in items for prompt, _ in item.answers}
        if search is None:
            shown = ContextEvidence({str(key): [c.text for c in p.chunks] for key, p in prompts.items()})
            verifier = EntailmentVerifier(self._scorer, shown, THRESHOLD)
        else:
            verifier = self._searching(search)
        to_verify: list[VerificationItem] = []
        refused: list[tuple[bool, str]] = []
        for item in items:
            for prompt, completion in item.answers:
                question = AnsweredQuestion(str(id(prompt)), item.question)
                extracted = verifier.extract(question, completion.text)
                to_verify.append(VerificationItem(question, extracted.claims, completion.text))
                refused.append((extracted.refused, extracted.reason))
        verdicts = verifier.verify(to_verify)
        found = iter([outcome_of(own, *refusal) for own, refusal in zip(verdicts, refused, strict=True)])
        return [
            tuple(_placed(next(found), None if search else prompt, self.name) for prompt, _ in item.answers)
            for item in items
        ]

    def _searching(self, search: Search) -> EntailmentVerifier:
        evidence = GoldOrSearchedEvidence(
            GoldEvidence(Passages(search.retriever), search, DEFAULT_K),
            SearchedEvidence(search, search.retriever.generation_hash, DEFAULT_K, search.departures),
        )
        return EntailmentVerifier(self._scorer, evidence, THRESHOLD)


def _placed(evaluation: AnswerEvaluation, prompt: Prompt | None, name: str) -> AnswerEvaluation:
    """With evidence by document, where it is by number of the passage shown ("context 2")."""
    if prompt is None:
        return evaluation
    chunks = {f"context {n}": chunk for n, chunk in enumerate(prompt.chunks, start=1)}

    def place(evidence: Evidence) -> Evidence:
        shown = chunks.get(evidence.document_id or "")
        if shown is None:
            return evidence
        chunk, offset = shown.retrieved.chunk, shown.retrieved.chunk.start + shown.start
        return replace(
            evidence, document_id=chunk.document_id, start=evidence.start + offset, end=evidence.end + offset
        )

    def moved(verdict: Verdict) -> Verdict:
        return replace(verdict, evidence=tuple(map(place, verdict.evidence)), verifier=name)

    return replace(evaluation, verdicts=tuple(map(moved, evaluation.verdicts)))
