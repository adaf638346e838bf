"""Generators that can be listened to: text as it is drawn, completions at the end, and a way to stop.

For callers that must not block (a server's event loop). Several requests that were begun share the engine's batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from generation.completion import Completion, TextDelta
from generation.generator import GenerationTask
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class FinishedRequest:
    """The end of a request. completions: in the order of the seeds. shared_tokens: how much of the prompt had been read
    for others before."""

    completions: tuple[Completion, ...]
    shared_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """rows: samples that decode now. free_positions: of the engine's memory, in tokens."""

    rows: int
    free_positions: int


Listener = Callable[[TextDelta | FinishedRequest | Exception], None]
"""Called from another thread, between steps that serve everybody: it must return at once and raise nothing. Drawn or an
error comes last; a sample's deltas, joined, are its completion's text."""


class LiveRequest(Protocol):
    """A request under way."""

    def cancel(self) -> None:
        """Stop it, without waiting: its rows are free before the next step, and what was drawn is its result."""


@runtime_checkable
class LiveGenerator(Protocol):
    """A generator that tells what it draws while it does."""

    def begin(self, task: GenerationTask, listener: Listener) -> LiveRequest:
        """Take a task in and return at once; whatever is wrong with it goes to the listener."""


@runtime_checkable
class EngineGenerator(Protocol):
    """A generator whose requests share an engine of this process."""

    def load(self) -> EngineLoad:
        """How busy it is, as of about now."""


@runtime_checkable
class InstructedGenerator(Protocol):
    """A generator that follows instructions of the caller's beside its own."""

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """``Generator.prompt`` with instructions in front; they are never cut."""


@runtime_checkable
class NamesTokens(Protocol):
    """A generator that can say what a token id stands for."""

    def token_text(self, token_id: int) -> str:
        """The token's text by itself; a replacement character where it is part of a character only."""
