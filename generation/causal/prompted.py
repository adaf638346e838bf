"""The base class of generators for causal checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from generation.causal.prompt import CausalPrompter
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


class PromptedGenerator:
    """The base class of Generators that build prompts with a CausalPrompter. Subclasses implement ``generate``."""

    def __init__(self, name: str, fingerprint: str, context_length: int, prompter: CausalPrompter) -> None:
        self._name, self._fingerprint = name, fingerprint
        self._context_length, self._prompter = context_length, prompter

    @property
    def name(self) -> str:
        """Name of the checkpoint's folder or file."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over everything that determines the output, such as weights, prompt template and precision."""
        return self._fingerprint

    @property
    def context_length(self) -> int:
        """Size of the context window Delta, in tokens."""
        return self._context_length

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """See Generator.prompt."""
        return self._prompter.prompt(question, chunks, max_new_tokens)

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """See InstructedGenerator."""
        return self._prompter.prompt(question, chunks, max_new_tokens, instructions)

    def continued_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        """See ContinuingGenerator."""
        return self._prompter.begun(question, chunks, max_new_tokens, beginning)
