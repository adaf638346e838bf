"""Draw answers of the service for the audit."""

from __future__ import annotations

from app.answers import QueryResult
from evaluation.audits.audit import Audit, AuditContent, AuditedPassage, audited_sample, is_drawn
from evaluation.guarantee.answers import answer_score


def drawn_audit(result: QueryResult, question: str, stored: str | None, rate: float) -> Audit | None:
    """Return the audit of a query, or None if the query is not drawn.

    question: question for which the collection was searched; it may differ from the question that was sent. stored:
    name of the searched collection in the store; None without retrieval, when answers cannot be audited. rate:
    probability of drawing a query.
    """
    if stored is None or not result.answers or not is_drawn(result.id, rate):
        return None
    index = audited_sample(result.id, len(result.answers))
    answer = result.answers[index]
    policy, verifier, certificate = "none", "", ""
    answered = True
    score = None if answer.evaluation is None else answer_score(answer.evaluation)
    if answer.evaluation is not None and answer.evaluation.verdicts:
        verifier = answer.evaluation.verdicts[0].verifier
    if result.policy is not None:
        outcome = result.policy.outcome
        policy = ",".join(outcome.plan.names)
        if outcome.plan.judges:
            candidate = outcome.answers[index]
            answered = not candidate.withheld
            score = candidate.score_now if answered else candidate.score
            verifier = outcome.verifier
        if result.policy.certificate is not None:
            certificate = result.policy.certificate.id
    passages = tuple(
        AuditedPassage(source.document_id, source.title, source.start, source.end, source.text)
        for source in result.sources
        if source.number is not None
    )
    sent = result.request.question
    content = AuditContent(
        question,
        "" if sent == question else sent,
        answer.text,
        passages,
        result.model,
        result.generation or "",
        verifier,
    )
    return Audit(result.id, stored, certificate, policy, rate, answered, score, content)
