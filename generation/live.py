"""Streaming, cancellable generation for callers that must not block, such as a server's event loop.

Concurrent requests share the engine's batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from generation.completion import Completion, TextDelta, ThoughtDelta
from generation.generator import GenerationTask
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class FinishedRequest:
    """The end of a request. completions: in the order of the seeds. shared_tokens: prompt tokens reused from others."""

    completions: tuple[Completion, ...]
    shared_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """rows: samples being decoded. free_positions: of the engine's memory, in tokens."""

    rows: int
    free_positions: int


LiveEvent = TextDelta | ThoughtDelta | FinishedRequest | Exception
Listener = Callable[[LiveEvent], None]
"""Called from another thread, between steps that serve all requests: it must return at once and not raise.

A FinishedRequest or an error comes last; a sample's joined deltas are its completion's text, and its thought.
"""


class ThoughtSource(Protocol):
    """Text of one sample from which reasoning is removed; see generation.decoding.streaming.TextFilter."""

    def take_thought(self) -> str:
        """Return the reasoning since the previous call; may be empty."""


def report(listener: Listener, sample: int, source: ThoughtSource, text: str) -> None:
    """Report what became final: reasoning first, then text. Empty pieces are not reported."""
    if thought := source.take_thought():
        listener(ThoughtDelta(thought, sample))
    if text:
        listener(TextDelta(text, sample))


class LiveRequest(Protocol):
    """A request in progress."""

    def cancel(self) -> None:
        """Cancel without waiting: its rows are free before the next step, and the tokens so far are its result."""


@runtime_checkable
class LiveGenerator(Protocol):
    """A generator that reports text while it is generated."""

    def begin(self, task: GenerationTask, listener: Listener) -> LiveRequest:
        """Submit a task and return at once; errors in it go to the listener."""


@runtime_checkable
class EngineGenerator(Protocol):
    """A generator whose requests share an engine in this process."""

    def load(self) -> EngineLoad:
        """Current load (approximate)."""


@runtime_checkable
class InstructedGenerator(Protocol):
    """A generator that accepts instructions from the caller."""

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """``Generator.prompt`` preceded by instructions, which are never truncated."""


@runtime_checkable
class NamesTokens(Protocol):
    """A generator that can return the text of a token id."""

    def token_text(self, token_id: int) -> str:
        """The token's text on its own; a replacement character if it is only part of a character."""
