"""The Prompt: a question and the chunks it is answered from, as token ids."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class PromptChunk:
    """A chunk as the model was given it. number: n of ``[n]``, from 1.

    start, end: the characters of ``retrieved.chunk.text`` that were shown (a cut at a sentence boundary may drop the
    end).
    """

    number: int
    retrieved: RetrievedChunk
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text shown."""
        return self.retrieved.chunk.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What goes into the model.

    question: as asked, never cut. chunks: those that fit, in order of ``[n]``. omitted: those that did not fit the
    token budget, in order of rank. token_ids: the whole prompt. sources: for each prompt token (part, start, end) with
    part 0 for the question, n for the text shown of chunk n and -n for its title, and start, end in characters of that
    text; None for tokens of neither. Empty where a generator does not copy. instructions: of the caller's own, as they
    stand in front of the generator's.
    """

    question: str
    chunks: tuple[PromptChunk, ...]
    omitted: tuple[RetrievedChunk, ...]
    token_ids: tuple[int, ...]
    sources: tuple[tuple[int, int, int] | None, ...] = ()
    instructions: str = ""
