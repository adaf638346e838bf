"""Results in OpenAI's format: completions, annotations, log-probabilities, usage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.answering.answer_json import source_json, timings_json, verdict_json
from app.answering.answer_parts import Answer
from app.answering.policy_json import policy_json
from app.answers import QueryResult
from generation.completion import Completion
from generation.generator import Generator
from generation.live import NamesTokens

_NEVER = -9999.0
"""OpenAI's value for the logarithm of zero."""


@dataclass(frozen=True, slots=True)
class ChatHead:
    """Fields that all objects of one answer share. created: Unix time in seconds. notes: see PlumblineReply."""

    id: str
    created: int
    model: str
    fingerprint: str
    seed: int
    notes: tuple[str, ...] = ()
    logprobs: bool = False

    def fields(self, kind: str) -> dict[str, Any]:
        """Return the shared fields of an object. kind: its value of ``object``."""
        return {
            "id": f"chatcmpl-{self.id}",
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
        }


def chat_json(head: ChatHead, result: QueryResult, question: str, generator: Generator) -> dict[str, Any]:
    """Return a chat completion. question: the question that was answered, rewritten if it was a follow-up."""
    return {
        **head.fields("chat.completion"),
        "choices": [
            {
                "index": index,
                "message": {
                    "role": "assistant",
                    "content": answer.text,
                    "reasoning_content": answer.completion.thought or None,
                    "refusal": None,
                    "annotations": annotations_json(answer, result),
                },
                "logprobs": logprobs_json(answer.completion, generator) if head.logprobs else None,
                "finish_reason": finish_json(answer.completion),
            }
            for index, answer in enumerate(result.answers)
        ],
        "usage": chat_usage_json(result),
        "sources": [source_json(source) for source in result.sources],
        "plumbline": plumbline_json(head, result, question),
    }


def annotations_json(answer: Answer, result: QueryResult) -> list[dict[str, Any]]:
    """Return the citations of an answer as annotations."""
    by_number = {source.number: source for source in result.sources if source.number is not None}
    out = []
    for citation in answer.completion.citations:
        source = by_number[citation.number]
        place = f"{quote(result.collection or '', safe='')}/{quote(source.document_id, safe='')}"
        out.append(
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": citation.start,
                    "end_index": citation.end,
                    "title": source.title or source.document_id,
                    "url": f"plumbline:{place}#char={source.start},{source.end}",
                },
                "number": citation.number,
                "document_id": source.document_id,
                "place": source.place,
            }
        )
    return out


def finish_json(completion: Completion) -> str:
    """Return OpenAI's finish reason: "length" for any truncation, else "stop"."""
    return "stop" if completion.finish_reason == "stop" else "length"


def chat_usage_json(result: QueryResult) -> dict[str, Any]:
    """Return token counts. The prompt counts once for all samples."""
    return {
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "total_tokens": result.prompt_tokens + result.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": result.shared_tokens},
    }


def plumbline_json(head: ChatHead, result: QueryResult, question: str) -> dict[str, Any]:
    """Return the fields that Plumbline adds to OpenAI's format."""
    judged = None
    if any(answer.evaluation is not None for answer in result.answers):
        judged = [
            {
                "index": index,
                "outcome": answer.evaluation.outcome,
                "verdicts": [verdict_json(verdict) for verdict in answer.evaluation.verdicts],
            }
            for index, answer in enumerate(result.answers)
            if answer.evaluation is not None
        ]
    return {
        "query_id": result.id,
        "question": question,
        "collection": result.collection,
        "generation": result.generation,
        "seed": head.seed,
        "notes": list(head.notes),
        "judged": judged,
        "policy": None if result.policy is None else policy_json(result.policy),
        "timings": timings_json(result.timings),
    }


def logprobs_json(completion: Completion, generator: Generator) -> dict[str, Any] | None:
    """Return every token with its log-probability and, if requested, the most likely alternatives.

    Returns None if the generator has no token ids; the route refuses log-probabilities in that case.
    """
    if not isinstance(generator, NamesTokens):
        return None
    tops = completion.top_logprobs or ((),) * len(completion.token_ids)
    return {
        "content": [
            {
                **_token(generator, token, logprob),
                "top_logprobs": [_token(generator, other, value) for other, value in top],
            }
            for token, logprob, top in zip(completion.token_ids, completion.token_logprobs, tops, strict=True)
        ],
        "refusal": None,
    }


def _token(generator: NamesTokens, token_id: int, logprob: float) -> dict[str, Any]:
    text = generator.token_text(token_id)
    # A token that is part of a character decodes to U+FFFD, so its bytes are unknown.
    raw = None if "\ufffd" in text else list(text.encode())
    return {"token": text, "logprob": max(logprob, _NEVER) if math.isfinite(logprob) else _NEVER, "bytes": raw}
