"""The Prompt: a question and its chunks as token IDs."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class PromptChunk:
    """A chunk as shown to the model.

    number: n in its citations ``[n]``, from 1. start, end: offsets of the shown part of ``retrieved.chunk.text``, whose
    end may be cut off at a sentence boundary.
    """

    number: int
    retrieved: RetrievedChunk
    start: int
    end: int

    @property
    def text(self) -> str:
        """The shown part of the chunk's text."""
        return self.retrieved.chunk.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The model input.

    question: the question, never truncated. chunks: the chunks that fit, in order of ``[n]``. omitted: the chunks that
    did not fit the token budget, in order of rank. token_ids: token IDs of the entire prompt. sources: origin of each
    prompt token as (part, start, end), or None. part is 0 for the question, n for the shown text of chunk n and -n for
    its title; start and end are character offsets in that text. Empty if the generator does not copy. instructions: the
    caller's instructions, placed before the generator's.
    """

    question: str
    chunks: tuple[PromptChunk, ...]
    omitted: tuple[RetrievedChunk, ...]
    token_ids: tuple[int, ...]
    sources: tuple[tuple[int, int, int] | None, ...] = ()
    instructions: str = ""
