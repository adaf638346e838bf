"""The parts of a query's result: answers, sources, search settings and timings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.outcomes import AnswerEvaluation
from generation.completion import Completion
from generation.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Source:
    """A retrieved chunk.

    number: citation number ``[n]``, None if the chunk did not fit into the prompt. start, end: offsets in the document.
    shown: number of its characters in the prompt. place: location in the document as text (page, heading, line);
    empty if unknown.
    """

    number: int | None
    document_id: str
    title: str
    start: int
    end: int
    text: str
    shown: int
    rank: int
    score: float
    dense_rank: int | None
    sparse_rank: int | None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One sample. completion: text and citations. evaluation: outcome and verdicts, None if it was not judged."""

    completion: Completion
    evaluation: AnswerEvaluation | None = None

    @property
    def text(self) -> str:
        """The text of the answer, including citations."""
        return self.completion.text


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """The search of a query. All fields are None or empty without retrieval.

    collection: name of the collection that its tenant uses. generation: hash of the index generation.
    settings: description of the search settings (Search.settings). locations: chunk ID -> location as text.
    """

    collection: str | None = None
    generation: str | None = None
    settings: str | None = None
    locations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock times in seconds.

    queue: wait before processing starts. first_token: time from the arrival of the question to the first text of the
    answer, None if not measured. verification: None if no verification was requested.
    """

    retrieval: float
    generation: float
    queue: float = 0.0
    first_token: float | None = None
    verification: float | None = None


def sources_of(prompt: Prompt, locations: Mapping[str, str] | None = None) -> tuple[Source, ...]:
    """Return the retrieved chunks: first those in the prompt, then those that did not fit, each in order of rank.

    locations: chunk ID -> location as text (app.retrieval.chunk_locations.chunk_locations).
    """
    out = []
    for part in prompt.chunks:
        out.append((part.number, part.end - part.start, part.retrieved))
    rows = [*out, *((None, 0, retrieved) for retrieved in prompt.omitted)]
    return tuple(
        Source(
            number=number,
            document_id=retrieved.chunk.document_id,
            title=retrieved.chunk.title,
            start=retrieved.chunk.start,
            end=retrieved.chunk.end,
            text=retrieved.chunk.text,
            shown=shown,
            rank=retrieved.rank,
            score=retrieved.score,
            dense_rank=retrieved.dense_rank,
            sparse_rank=retrieved.sparse_rank,
            place=(locations or {}).get(retrieved.chunk.id, ""),
        )
        for number, shown, retrieved in rows
    )
