"""Convert sample records to rows of the tables ``samples`` and ``verdicts``, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast, get_args

from evaluation.outcomes import OUTCOMES, AnswerEvaluation, Claim, Evidence, Label, Outcome, Verdict
from evaluation.policies.record import policy_record_from_json
from evaluation.runs.records import Failure, ObservedEvent, SampleRecord
from generation.completion import Citation, Completion, FinishReason, Usage
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

Row = dict[str, Any]


def sample_row(run_id: str, record: SampleRecord) -> Row:
    """Return the row of a record in ``samples``."""
    return {
        "run_id": run_id,
        "question_id": record.question_id,
        "arm": record.arm,
        "decoding": record.decoding,
        "sample": record.sample,
        "seed": record.seed,
        "completion": {} if record.completion is None else _completion_to_json(record.completion),
        "prompt": {"chunks": [_chunk_to_json(c) for c in record.chunks], "omitted": list(record.omitted)}
        | ({"asked": record.question_text} if record.question_text else {}),
        "evaluation": {
            "outcome": record.evaluation.outcome,
            "reason": record.evaluation.reason,
            "failure": record.failure,
        }
        | ({"observed": [asdict(seen) for seen in record.observed]} if record.observed else {})
        | ({"policy": record.policy.to_json()} if record.policy else {}),
    }


def verdict_rows(run_id: str, record: SampleRecord) -> tuple[Row, ...]:
    """Return the rows of a record in ``verdicts``: one per claim and verifier (the run's and the selecting one)."""
    key = (record.question_id, record.arm, record.decoding, record.sample)
    judged = (record.evaluation.verdicts, record.selected)
    return tuple(verdict_row(run_id, key, number, v) for verdicts in judged for number, v in enumerate(verdicts))


def verdict_row(run_id: str, key: tuple[str, str, str, int], number: int, verdict: Verdict) -> Row:
    """Return the row of a verdict in ``verdicts``.

    key: question, arm, decoding and sample.
    number: number of the claim, from 0.
    """
    question_id, arm, decoding, sample = key
    return {
        "run_id": run_id,
        "question_id": question_id,
        "arm": arm,
        "decoding": decoding,
        "sample": sample,
        "claim": number,
        "verifier": verdict.verifier,
        "label": verdict.label,
        "support": verdict.support,
        "reason": verdict.reason,
        "evidence": [
            {"document_id": e.document_id, "start": e.start, "end": e.end, "text": e.text} for e in verdict.evidence
        ],
        "claim_text": verdict.claim.text,
        "claim_start": verdict.claim.start,
        "claim_end": verdict.claim.end,
    }


def record_from_rows(sample: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]]) -> SampleRecord:
    """Return the record of a row in ``samples``. ``selected`` stays empty.

    verdicts: rows of the run's verifier for this sample.

    Raises ValueError, TypeError or KeyError for invalid rows.
    """
    evaluation, prompt = sample["evaluation"], sample["prompt"]
    if evaluation["outcome"] not in OUTCOMES or evaluation["failure"] not in get_args(Failure):
        raise ValueError(f"evaluation {evaluation} has no known outcome or failure")
    judged = tuple(verdict_from_row(row) for row in sorted(verdicts, key=lambda row: int(row["claim"])))
    return SampleRecord(
        question_id=sample["question_id"],
        arm=sample["arm"],
        decoding=sample["decoding"],
        sample=sample["sample"],
        seed=sample["seed"],
        completion=_completion_from_json(sample["completion"]) if sample["completion"] else None,
        chunks=tuple(_chunk_from_json(c) for c in prompt["chunks"]),
        omitted=tuple(prompt["omitted"]),
        evaluation=AnswerEvaluation(cast(Outcome, evaluation["outcome"]), judged, evaluation["reason"]),
        failure=cast(Failure, evaluation["failure"]),
        question_text=prompt.get("asked", ""),
        observed=tuple(ObservedEvent(**seen) for seen in evaluation.get("observed", ())),
        policy=policy_record_from_json(evaluation["policy"]) if "policy" in evaluation else None,
    )


def _completion_to_json(completion: Completion) -> Row:
    return {
        "text": completion.text,
        "token_ids": list(completion.token_ids),
        # JSON has no infinity, so the log-probability of a token with probability 0 or an unknown one is null.
        "token_logprobs": [p if math.isfinite(p) else None for p in completion.token_logprobs],
        "finish_reason": completion.finish_reason,
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        "seed": completion.seed,
        "citations": [[c.number, c.start, c.end] for c in completion.citations],
    }


def _completion_from_json(fields: Mapping[str, Any]) -> Completion:
    if fields["finish_reason"] not in get_args(FinishReason):
        raise ValueError(f"finish reason {fields['finish_reason']!r} is unknown")
    return Completion(
        text=fields["text"],
        token_ids=tuple(fields["token_ids"]),
        token_logprobs=tuple(-math.inf if p is None else p for p in fields["token_logprobs"]),
        finish_reason=cast(FinishReason, fields["finish_reason"]),
        usage=Usage(fields["prompt_tokens"], fields["completion_tokens"]),
        seed=fields["seed"],
        citations=tuple(Citation(*c) for c in fields["citations"]),
    )


def _chunk_to_json(shown: PromptChunk) -> Row:
    retrieved, chunk = shown.retrieved, shown.retrieved.chunk
    return {
        "number": shown.number,
        "shown": [shown.start, shown.end],
        "document_id": chunk.document_id,
        "title": chunk.title,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "score": retrieved.score,
        "rank": retrieved.rank,
        "dense": [retrieved.dense_rank, retrieved.dense_score],
        "sparse": [retrieved.sparse_rank, retrieved.sparse_score],
    }


def _chunk_from_json(fields: Mapping[str, Any]) -> PromptChunk:
    chunk = Chunk(fields["document_id"], fields["start"], fields["end"], fields["text"], fields["title"])
    retrieved = RetrievedChunk(chunk, fields["score"], fields["rank"], *fields["dense"], *fields["sparse"])
    return PromptChunk(fields["number"], retrieved, *fields["shown"])


def verdict_from_row(row: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a row in ``verdicts``. Raises ValueError for an unknown label."""
    if row["label"] not in get_args(Label):
        raise ValueError(f"verdict label {row['label']!r} is unknown")
    return Verdict(
        claim=Claim(row["claim_text"], row["claim_start"], row["claim_end"]),
        label=cast(Label, row["label"]),
        support=row["support"],
        reason=row["reason"],
        evidence=tuple(Evidence(e["document_id"], e["start"], e["end"], e["text"]) for e in row["evidence"]),
        verifier=row["verifier"],
    )
