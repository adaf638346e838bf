"""Score the answers to a query in the same way as the run that a certificate was calibrated on."""

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
    """Answers to one question that are to be judged.

    answers: prompt and completion of each answer. search: search in the collection that gives the evidence; None judges
    each answer by the passages of its prompt.
    """

    question: str
    answers: tuple[tuple[Prompt, Completion], ...]
    search: Search | None = None


class PolicyJudge:
    """The verifiers for answers to queries, which have neither references nor gold passages. They share one scorer."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    @property
    def scorer_name(self) -> str:
        """Name of the scoring network."""
        return self._scorer.name

    @property
    def name(self) -> str:
        """Name of the verifier that judges by the prompt's passages, as ``evaluate --faithfulness`` stores it."""
        return verifier_name(self._scorer, THRESHOLD)

    def searching_names(self, search: Search) -> tuple[str, ...]:
        """Return the names under which runs store the verifiers that search a collection: routed, then plain."""
        entailment = self._searching(search)
        return RoutedVerifier(ReferenceVerifier(), entailment).name, entailment.name

    def evaluate(self, question: str, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """Evaluate answers to one question by the passages of their prompts. Raises the errors of scoring."""
        return self.judge([PolicyJudging(question, tuple(answers))])[0]

    def judge(self, items: Sequence[PolicyJudging]) -> list[tuple[AnswerEvaluation, ...]]:
        """Return one evaluation per answer of each item, in order. Items with the same search are scored together.

        Raises the errors of scoring and searching.
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
            tuple(
                _with_document_spans(next(found), None if search else prompt, self.name) for prompt, _ in item.answers
            )
            for item in items
        ]

    def _searching(self, search: Search) -> EntailmentVerifier:
        evidence = GoldOrSearchedEvidence(
            GoldEvidence(Passages(search.retriever), search, DEFAULT_K),
            SearchedEvidence(search, search.retriever.generation_hash, DEFAULT_K, search.non_default_settings),
        )
        return EntailmentVerifier(self._scorer, evidence, THRESHOLD)


def _with_document_spans(evaluation: AnswerEvaluation, prompt: Prompt | None, name: str) -> AnswerEvaluation:
    """Replace numbers of shown passages ("context 2") in the evidence by documents and their offsets."""
    if prompt is None:
        return evaluation
    chunks = {f"context {n}": chunk for n, chunk in enumerate(prompt.chunks, start=1)}

    def with_document(evidence: Evidence) -> Evidence:
        shown = chunks.get(evidence.document_id or "")
        if shown is None:
            return evidence
        chunk, offset = shown.retrieved.chunk, shown.retrieved.chunk.start + shown.start
        return replace(
            evidence, document_id=chunk.document_id, start=evidence.start + offset, end=evidence.end + offset
        )

    def with_spans(verdict: Verdict) -> Verdict:
        return replace(verdict, evidence=tuple(map(with_document, verdict.evidence)), verifier=name)

    return replace(evaluation, verdicts=tuple(map(with_spans, evaluation.verdicts)))
