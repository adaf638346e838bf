"""The protocol every generator stands behind: the embedded reader, a Hugging Face decoder, a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from generation.completion import Completion
from generation.params import SamplingParams
from generation.prompt import Prompt
from retrieval.chunks import RetrievedChunk


class Generator(Protocol):
    """Turns a question and chunks into a prompt, and a prompt into completions."""

    @property
    def name(self) -> str:
        """What a person calls it, e.g. ``plumbline-reader``."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and configuration: equal fingerprints draw the same tokens from the same seeds."""

    @property
    def context_length(self) -> int:
        """The context window Delta, in tokens."""

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """Fit the question and as many chunks as possible, in the order given, into context_length - max_new_tokens.

        Raises GenerationError if the question is empty or does not fit by itself.
        """

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """Draw one completion per seed (params.n and params.seed are not looked at), in the order of the seeds."""
