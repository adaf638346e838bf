"""Prompts with the beginning of an answer, which the model continues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from generation.errors import GenerationError
from generation.generator import Generator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


@runtime_checkable
class ContinuingGenerator(Protocol):
    """A generator that can continue a given beginning of an answer. Its completions do not include the beginning."""

    def continued_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        """Build a prompt as ``Generator.prompt`` does, followed by the answer's beginning, which is never truncated."""


def continued_prompt(
    generator: Generator, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
) -> Prompt:
    """Return the prompt, followed by the beginning of an answer if ``beginning`` is not empty.

    Raises GenerationError if the generator does not support a beginning, and the errors of ``Generator.prompt``.
    """
    if not beginning:
        return generator.prompt(question, chunks, max_new_tokens)
    if not isinstance(generator, ContinuingGenerator):
        raise GenerationError(f"{generator.name} cannot continue a given beginning of an answer")
    return generator.continued_prompt(question, chunks, max_new_tokens, beginning)
