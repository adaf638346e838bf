"""What generators of causal checkpoints share: their identity and their prompts."""

from __future__ import annotations

from collections.abc import Sequence

from generation.causal.prompt import CausalPrompter
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


class PromptedGenerator:
    """Base of a Generator whose prompts a CausalPrompter builds. Subclasses generate."""

    def __init__(self, name: str, fingerprint: str, context_length: int, prompter: CausalPrompter) -> None:
        self._name, self._fingerprint = name, fingerprint
        self._context_length, self._prompter = context_length, prompter

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all that the output depends on: weights, tokenizer, chat frame, prompt, precision."""
        return self._fingerprint

    @property
    def context_length(self) -> int:
        """The context window Delta, in tokens."""
        return self._context_length

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """See Generator.prompt."""
        return self._prompter.prompt(question, chunks, max_new_tokens)

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """See InstructedGenerator."""
        return self._prompter.prompt(question, chunks, max_new_tokens, instructions)

    def begun_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        """See ContinuingGenerator."""
        return self._prompter.begun(question, chunks, max_new_tokens, beginning)
