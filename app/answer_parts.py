"""The parts of a query's result: answers, sources, how the search was done, and timings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.outcomes import AnswerEvaluation
from generation.completion import Completion
from generation.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that was retrieved. number: its ``[n]``, None when it did not fit the prompt. shown: characters of it
    that the model was given. start, end: offsets in the document. place: where that is, in the words of who wrote it
    (page, heading, line); empty if unknown."""

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
    """One sample: its completion, and for each citation the place in the text and the source it names. evaluation: what
    its verdicts, None if not judged."""

    completion: Completion
    evaluation: AnswerEvaluation | None = None

    @property
    def text(self) -> str:
        """The answer as written, citations included."""
        return self.completion.text


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What was searched for a query. collection: as its tenant calls it. generation: hash of the index generation.
    settings: how, in words (Search.settings). locations: of the chunks in their documents, in words, by chunk id.
    All are None or empty without retrieval."""

    collection: str | None = None
    generation: str | None = None
    settings: str | None = None
    locations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock seconds. queue: waiting for a turn. first_token: from the question's arrival to the first text of the
    answer, None if not checked. verification: None if not requested."""

    retrieval: float
    generation: float
    queue: float = 0.0
    first_token: float | None = None
    verification: float | None = None


def sources_of(prompt: Prompt, locations: Mapping[str, str] | None = None) -> tuple[Source, ...]:
    """Everything that was retrieved, in order of rank: what the model was shown, then what did not fit.

    locations: in words, by chunk id (app.retrieval.chunk_locations.chunk_locations).
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
