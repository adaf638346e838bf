"""Judged responses of a run or of another system, in the form that tables and traces need."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from evaluation.exports.records import ExportRun
from evaluation.outcomes import AnswerEvaluation

COLUMNS: Final = (
    *("run", "question_id", "question", "kind", "answerable", "references", "arm", "decoding", "sample", "answer"),
    *("outcome", "support", "reason", "claims", "unsupported", "contexts", "context_documents", "cited", "model"),
    *("verifier", "finish_reason", "prompt_tokens", "completion_tokens", "failure"),
)
"""Columns of tables with one response per row."""


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response with its outcome.

    sample: number of the sample in its arm and question, from 0. cited: numbers of the cited contexts, from 1. created:
    Unix time in nanoseconds. origin: name that distinguishes responses of different files. trace_id, span_id: IDs of
    the span that gave the answer, in hexadecimal, "" if there is none. tokens: (prompt, completion), None if unknown.
    """

    run: str
    question_id: str
    question: str
    answer: str
    arm: str
    sample: int
    evaluation: AnswerEvaluation
    created: int
    kind: str = ""
    answerable: bool = True
    references: tuple[str, ...] = ()
    decoding: str = ""
    contexts: tuple[str, ...] = ()
    context_documents: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    model: str = ""
    verifier: str = ""
    finish_reason: str = ""
    tokens: tuple[int, int] | None = None
    failure: str = ""
    origin: str = ""
    trace_id: str = ""
    span_id: str = ""

    @property
    def support(self) -> float | None:
        """Support of the worst claim; None if no claim was scored."""
        return min((v.support for v in self.evaluation.verdicts if v.support is not None), default=None)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Texts of the claims that are contradicted or unverifiable, each once."""
        found = (v.claim.text for v in self.evaluation.verdicts if v.label in ("contradicted", "unverifiable"))
        return tuple(dict.fromkeys(found))

    @property
    def key(self) -> str:
        """Hexadecimal digest (64 digits) that identifies the response in every export."""
        parts = (self.run, self.origin, self.question_id, self.arm, self.decoding, str(self.sample))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def run_responses(run: ExportRun) -> Iterator[JudgedResponse]:
    """Yield the responses of a stored run, in its order."""
    created = int(datetime.fromisoformat(run.created).timestamp()) * 1_000_000_000
    for question, sample in run.answered():
        completion = sample.completion
        yield JudgedResponse(
            run=run.id,
            question_id=question.id,
            question=sample.question_text or question.text,
            answer=completion.text if completion else "",
            arm=sample.arm,
            sample=sample.sample,
            evaluation=sample.evaluation,
            created=created,
            kind=question.kind,
            answerable=question.answerable,
            references=question.references,
            decoding=sample.decoding,
            contexts=tuple(chunk.text for chunk in sample.chunks),
            context_documents=tuple(chunk.retrieved.chunk.document_id for chunk in sample.chunks),
            cited=tuple(dict.fromkeys(c.number for c in completion.citations)) if completion else (),
            model=run.model,
            verifier=run.verifier,
            finish_reason=completion.finish_reason if completion else "",
            tokens=(completion.usage.prompt_tokens, completion.usage.completion_tokens) if completion else None,
            failure=sample.failure,
        )


def response_row(response: JudgedResponse) -> dict[str, Any]:
    """Return one row of COLUMNS. support and tokens are None if unknown; claims and unsupported are counts."""
    prompt_tokens, completion_tokens = response.tokens or (None, None)
    return {
        "run": response.run,
        "question_id": response.question_id,
        "question": response.question,
        "kind": response.kind,
        "answerable": response.answerable,
        "references": list(response.references),
        "arm": response.arm,
        "decoding": response.decoding,
        "sample": response.sample,
        "answer": response.answer,
        "outcome": response.evaluation.outcome,
        "support": response.support,
        "reason": response.evaluation.reason,
        "claims": len(response.evaluation.verdicts),
        "unsupported": sum(v.label in ("contradicted", "unverifiable") for v in response.evaluation.verdicts),
        "contexts": list(response.contexts),
        "context_documents": list(response.context_documents),
        "cited": list(response.cited),
        "model": response.model,
        "verifier": response.verifier,
        "finish_reason": response.finish_reason,
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "failure": response.failure,
    }


def valid_ids(trace_id: str, span_id: str) -> tuple[str, str]:
    """Return the IDs in lower case if both are valid in OpenTelemetry, else "" for both.

    Valid IDs have 32 and 16 hexadecimal digits, not all zero. A UUID is a trace ID without its dashes.
    """
    trace, span = (text.replace("-", "").casefold() for text in (trace_id, span_id))
    if _is_id(trace, 32) and _is_id(span, 16):
        return trace, span
    return "", ""


def _is_id(text: str, length: int) -> bool:
    return len(text) == length and set(text) <= set("0123456789abcdef") and set(text) != {"0"}
