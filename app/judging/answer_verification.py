"""Verify the answers to a query against evidence that is retrieved from a collection, as in the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from app.answers import QueryResult
from app.judging.run_judge import load_scorer
from app.judging.verification import with_contradiction
from app.pipeline import Pipeline
from evaluation.outcomes import Evidence, Verdict, outcome_of
from evaluation.verifiers.context_evidence import AnsweredQuestion
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import EvidenceText, SearchedEvidence
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import PairScorer


def verified(
    pipeline: Pipeline, result: QueryResult, collection: str | None = None, scorer: PairScorer | None = None
) -> QueryResult:
    """Return the result with an evaluation of every answer.

    The evidence depends only on the question and the claim, so answers with and without retrieval get the same
    evidence. collection: name of the trusted collection, by default the one that was searched. scorer: entailment
    scorer, by default the shipped one. Raises the errors of opening the collection and the scorer.
    """
    started = perf_counter()
    search = pipeline.search(pipeline.collection_name(collection or result.collection))
    evidence = SearchedEvidence(search, search.retriever.generation_hash, settings=search.non_default_settings)
    verifier = EntailmentVerifier(scorer or load_scorer(None, pipeline.device), evidence)
    question = AnsweredQuestion("0", result.request.question)
    extractions = [verifier.extract(question, answer.text) for answer in result.answers]
    items = [
        VerificationItem(question, extraction.claims, answer.text)
        for extraction, answer in zip(extractions, result.answers, strict=True)
    ]
    judged = verifier.verify(items)
    answers = tuple(
        replace(answer, evaluation=outcome_of(_explained(verdicts), extraction.refused))
        for answer, extraction, verdicts in zip(result.answers, extractions, judged, strict=True)
    )
    return replace(result, answers=answers, timings=replace(result.timings, verification=perf_counter() - started))


def _explained(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Mark verdicts as contradicted or unverifiable, using the evidence of each verdict."""
    return tuple(with_contradiction(verdict, tuple(map(_text, verdict.evidence))) for verdict in verdicts)


def _text(evidence: Evidence) -> EvidenceText:
    return EvidenceText(evidence.document_id or "", evidence.text, evidence.start)
