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
    """The event that ends a request.

    completions: one for each seed, in the order of the seeds. shared_tokens: number of prompt tokens whose keys and
    values were reused from earlier requests.
    """

    completions: tuple[Completion, ...]
    shared_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """The load of an engine.

    rows: number of samples being decoded. free_positions: number of tokens that fit the engine's free memory.
    """

    rows: int
    free_positions: int


LiveEvent = TextDelta | ThoughtDelta | FinishedRequest | Exception
Listener = Callable[[LiveEvent], None]
"""Callback for the events of a request.

It is called from another thread, between steps that serve all requests, so it must return at once and not raise. A
FinishedRequest or an error is the last event. The joined TextDeltas of a sample are its completion's text, the joined
ThoughtDeltas its thought.
"""


class ThoughtSource(Protocol):
    """The text of one sample, from which reasoning is removed; see generation.decoding.streaming.TextFilter."""

    def take_thought(self) -> str:
        """Return the reasoning since the previous call; may be empty."""


def report(listener: Listener, sample: int, source: ThoughtSource, text: str) -> None:
    """Send new reasoning, then new text, to the listener. Empty pieces are not sent."""
    if thought := source.take_thought():
        listener(ThoughtDelta(thought, sample))
    if text:
        listener(TextDelta(text, sample))


class LiveRequest(Protocol):
    """A request in progress."""

    def cancel(self) -> None:
        """Cancel the request without waiting.

        Its rows are freed before the next step. The tokens generated so far are its result.
        """


@runtime_checkable
class LiveGenerator(Protocol):
    """A generator that reports text while it generates it."""

    def begin(self, task: GenerationTask, listener: Listener) -> LiveRequest:
        """Submit a task and return at once. Errors are sent to the listener."""


@runtime_checkable
class EngineGenerator(Protocol):
    """A generator whose requests share an engine in this process."""

    def load(self) -> EngineLoad:
        """Return the current load (approximate)."""


@runtime_checkable
class InstructedGenerator(Protocol):
    """A generator that accepts instructions from the caller."""

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """Build a prompt as ``Generator.prompt`` does, with instructions before it. They are never truncated."""


@runtime_checkable
class NamesTokens(Protocol):
    """A generator that can return the text of a token id."""

    def token_text(self, token_id: int) -> str:
        """Return the text of a single token; a replacement character if the token is only part of a character."""
