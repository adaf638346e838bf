"""The Prompt: a question and its chunks, as token ids."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class PromptChunk:
    """A chunk as given to the model. number: n of ``[n]``, from 1.

    start, end: the shown characters of ``retrieved.chunk.text`` (truncation at a sentence boundary may drop the end).
    """

    number: int
    retrieved: RetrievedChunk
    start: int
    end: int

    @property
    def text(self) -> str:
        """The shown text."""
        return self.retrieved.chunk.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The model input.

    question: unchanged, never truncated. chunks: those that fit, in order of ``[n]``. omitted: those that did not fit
    the token budget, in order of rank. token_ids: the entire prompt. sources: for each prompt token (part, start, end)
    with part 0 for the question, n for the shown text of chunk n and -n for its title, and start, end in characters of
    that text; None for other tokens. Empty if a generator does not copy. instructions: the caller's own, placed before
    the generator's.
    """

    question: str
    chunks: tuple[PromptChunk, ...]
    omitted: tuple[RetrievedChunk, ...]
    token_ids: tuple[int, ...]
    sources: tuple[tuple[int, int, int] | None, ...] = ()
    instructions: str = ""
