"""Answers with a given beginning, which the model continues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from generation.errors import GenerationError
from generation.generator import Generator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


@runtime_checkable
class ContinuingGenerator(Protocol):
    """A generator that supports a given beginning of its answer. Its completions are the continuation."""

    def begun_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        """``Generator.prompt`` followed by the answer's first words, which are never truncated."""


def begun_prompt(
    generator: Generator, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
) -> Prompt:
    """Return the prompt, with a begun answer if ``beginning`` is not empty.

    Raises GenerationError for a generator that does not support a beginning, and the errors of the prompt itself.
    """
    if not beginning:
        return generator.prompt(question, chunks, max_new_tokens)
    if not isinstance(generator, ContinuingGenerator):
        raise GenerationError(f"{generator.name} cannot continue a given beginning of an answer")
    return generator.begun_prompt(question, chunks, max_new_tokens, beginning)
