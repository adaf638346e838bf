"""Answers whose first words are given: the model goes on from them as if it had said them itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from generation.errors import GenerationError
from generation.generator import Generator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


@runtime_checkable
class ContinuingGenerator(Protocol):
    """A generator that can be made to begin its answer with given words. Its completions are what follows them."""

    def begun_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        """``Generator.prompt`` with the answer's first words behind it; they are never cut."""


def begun_prompt(
    generator: Generator, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
) -> Prompt:
    """The prompt, its answer begun where ``beginning`` is not empty.

    Raises GenerationError for a generator that cannot go on from given words, and what making a prompt raises.
    """
    if not beginning:
        return generator.prompt(question, chunks, max_new_tokens)
    if not isinstance(generator, ContinuingGenerator):
        raise GenerationError(f"{generator.name} cannot go on from words that it did not say")
    return generator.begun_prompt(question, chunks, max_new_tokens, beginning)
