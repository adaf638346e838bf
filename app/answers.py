"""QueryRequest and QueryResult: a question to the pipeline, and its answers, sources and timings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.answering.answer_json import answer_json, source_json, timings_json
from app.answering.answer_parts import Answer, SearchRecord, Source, Timings, sources_of
from app.answering.policy_json import PolicyResult, policy_json
from app.errors import AppError
from data.blank import is_blank
from data.html_table import html_table, shortened
from data.questions import Question
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from generation.style.restyling import Style, apply_style
from retrieval.retriever import Fusion, Mode


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A question with its settings.

    question: text of the question. collection: collection to search, None if there is only one. retrieval: False to
    answer without retrieved chunks. k: number of chunks to retrieve. mode, fusion: search settings; None for those
    saved for the collection, or the defaults. params: sampling parameters; params.seed is the seed of the first sample,
    and those of others are derived from it. style: "sentence" turns short answers into full sentences by rule.
    """

    question: str
    collection: str | None = None
    retrieval: bool = True
    k: int = 4
    mode: Mode | None = None
    fusion: Fusion | None = None
    params: SamplingParams = field(default_factory=SamplingParams)
    style: Style = "short"


def query_request(question: QueryRequest | Question | str, collection: str | None = None) -> QueryRequest:
    """Return the question as a request. collection: overrides the collection of a request, unless it is None.

    Raises AppError for an empty question, TypeError for an object of another type.
    """
    if isinstance(question, QueryRequest):
        return question if collection is None else replace(question, collection=collection)
    text = question.text if isinstance(question, Question) else question
    if not isinstance(text, str):
        raise TypeError(f"a question is a str, a Question or a QueryRequest, not {type(question).__name__}")
    if is_blank(text):
        raise AppError("the question is empty: ask something", parameter="question")
    return QueryRequest(text, collection)


@dataclass(frozen=True, slots=True, repr=False)
class QueryResult:
    """The answers to a question, with their sources.

    id: ID of the stored query. generation: hash of the index generation that was searched; None without retrieval.
    search: description of the search settings (Search.settings). shared_tokens: number of prompt tokens whose
    computation was reused from earlier requests. policy: result of the policies, None without a policy.
    """

    id: str
    request: QueryRequest
    collection: str | None
    generation: str | None
    model: str
    answers: tuple[Answer, ...]
    sources: tuple[Source, ...]
    timings: Timings
    shared_tokens: int = 0
    search: str | None = None
    policy: PolicyResult | None = None

    def __repr__(self) -> str:
        question, answer = shortened(self.request.question), shortened(self.text)
        suffix = f", collection {self.collection!r}" if self.collection else ""
        sources = f"{len(self.sources)} {'source' if len(self.sources) == 1 else 'sources'}"
        return f"QueryResult({question!r} -> {answer!r}, {sources}{suffix}, model {self.model!r})"

    def _repr_html_(self) -> str:
        """Return a table of the answers and the sources, for a notebook."""
        rows: list[tuple[str, str, str]] = []
        for answer in self.answers:
            rows.append(("answer", answer.text, answer.evaluation.outcome if answer.evaluation else ""))
        for source in self.sources:
            number = "not shown" if source.number is None else f"[{source.number}]"
            rows.append((number, shortened(source.text, 160), source.place or source.title or source.document_id))
        return html_table(shortened(self.request.question, 160), ("", "text", "verdict or place"), rows)

    @property
    def text(self) -> str:
        """The text of the first answer, "" if there is none."""
        return self.answers[0].text if self.answers else ""

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens of the prompt that all samples share, and of the prompts that a policy added."""
        if self.policy is not None:
            return self.policy.outcome.cost.prompt_tokens
        return max((answer.completion.usage.prompt_tokens for answer in self.answers), default=0)

    @property
    def completion_tokens(self) -> int:
        """Number of completion tokens of all drawn samples."""
        if self.policy is not None:
            return self.policy.outcome.cost.completion_tokens
        return sum(answer.completion.usage.completion_tokens for answer in self.answers)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the CLI's --json and of POST /v1/query."""
        return {
            "id": self.id,
            "question": self.request.question,
            "collection": self.collection,
            "generation": self.generation,
            "search": self.search,
            "model": self.model,
            "answers": [answer_json(answer, self.sources) for answer in self.answers],
            "sources": [source_json(source) for source in self.sources],
            "usage": usage_json(self),
            "timings": timings_json(self.timings),
            "policy": None if self.policy is None else policy_json(self.policy),
        }


def query_result(
    query_id: str,
    request: QueryRequest,
    prompt: Prompt,
    completions: Sequence[Completion],
    searched: SearchRecord,
    timings: Timings,
    *,
    model: str,
    shared_tokens: int = 0,
    shown: QueryRequest | None = None,
) -> QueryResult:
    """Return the result of one query, with its answers in the style of the request.

    request: request that was searched and answered. shown: original request, if a follow-up question was rewritten;
    None if it is the same.
    """
    return QueryResult(
        id=query_id,
        request=shown or request,
        collection=searched.collection,
        generation=searched.generation,
        model=model,
        answers=tuple(Answer(apply_style(completion, request.question, request.style)) for completion in completions),
        sources=sources_of(prompt, searched.locations),
        timings=timings,
        shared_tokens=shared_tokens,
        search=searched.settings,
    )


def usage_json(result: QueryResult) -> dict[str, int]:
    """Return the numbers of tokens of the prompt, of its cached part, and of all completions."""
    return {
        "prompt_tokens": result.prompt_tokens,
        "cached_tokens": result.shared_tokens,
        "completion_tokens": result.completion_tokens,
    }
