"""Convert the parts of a query's result to JSON, as ``--json`` and the REST API return them."""

from __future__ import annotations

import math
from typing import Any

from app.answering.answer_parts import Answer, Source, Timings
from evaluation.outcomes import Verdict
from generation.completion import Completion


def timings_json(timings: Timings) -> dict[str, float | None]:
    """Return the wall-clock seconds of each stage."""
    return {
        "queue_s": timings.queue,
        "retrieval_s": timings.retrieval,
        "first_token_s": timings.first_token,
        "generation_s": timings.generation,
        "verification_s": timings.verification,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on one claim, with offsets of the claim in the answer and of its evidence in documents."""
    return {
        "start": verdict.claim.start,
        "end": verdict.claim.end,
        "text": verdict.claim.text,
        "label": verdict.label,
        "support": verdict.support,
        "reason": verdict.reason,
        "evidence": [
            {"document_id": e.document_id, "start": e.start, "end": e.end, "text": e.text} for e in verdict.evidence
        ],
    }


def answer_json(answer: Answer, sources: tuple[Source, ...]) -> dict[str, Any]:
    """Return one sample with its citations, and with its verdicts if it was judged."""
    completion, evaluation = answer.completion, answer.evaluation
    by_number = {source.number: source for source in sources if source.number is not None}
    return {
        "text": completion.text,
        "thought": completion.thought,
        "finish_reason": completion.finish_reason,
        "seed": completion.seed,
        "mean_logprob": (
            sum(completion.token_logprobs) / len(completion.token_logprobs) if completion.token_logprobs else None
        ),
        "logprobs": _logprobs_json(completion),
        "annotations": [
            {
                "type": "citation",
                "number": citation.number,
                "start": citation.start,
                "end": citation.end,
                "document_id": by_number[citation.number].document_id,
            }
            for citation in completion.citations
        ],
        "usage": {
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
        },
        "outcome": None if evaluation is None else evaluation.outcome,
        "verdicts": None if evaluation is None else [verdict_json(verdict) for verdict in evaluation.verdicts],
    }


def _logprobs_json(completion: Completion) -> list[dict[str, Any]] | None:
    """Return every token with its likeliest alternatives.

    None if they were not requested, or if a server returns no token IDs.
    """
    if not completion.top_logprobs:
        return None
    return [
        {
            "token_id": token,
            "logprob": _finite(logprob),
            "top": [{"token_id": other, "logprob": _finite(value)} for other, value in top],
        }
        for token, logprob, top in zip(
            completion.token_ids, completion.token_logprobs, completion.top_logprobs, strict=True
        )
    ]


def _finite(value: float) -> float | None:
    """Return None for infinity, which JSON cannot represent (the logprob of a token that cannot be drawn)."""
    return value if math.isfinite(value) else None


def source_json(source: Source) -> dict[str, Any]:
    """Return one retrieved chunk."""
    return {
        "number": source.number,
        "document_id": source.document_id,
        "title": source.title,
        "start": source.start,
        "end": source.end,
        "place": source.place,
        "text": source.text,
        "shown_characters": source.shown,
        "rank": source.rank,
        "score": source.score,
        "dense_rank": source.dense_rank,
        "sparse_rank": source.sparse_rank,
    }
