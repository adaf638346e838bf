"""State of the engine's requests: tickets, prompts being read, and rows that decode in lockstep."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from torch import Tensor

from generation.completion import FinishReason
from generation.decoding.loop import CopySource, DecodedTokens
from generation.decoding.sampling import SampleStream
from generation.engine.prefix_cache import CachedPrompt
from generation.engine.requests import EngineRequest, Handle
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup


@dataclass(eq=False, slots=True)
class Sample:
    """A completion in progress."""

    index: int
    stream: SampleStream
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    sources: list[tuple[CopySource, ...]] = field(default_factory=list)
    top_logprobs: list[tuple[tuple[int, float], ...]] = field(default_factory=list)
    finish: FinishReason | None = None

    def decoded(self) -> DecodedTokens:
        """Return the tokens generated so far."""
        finish = self.finish or "length"
        top = tuple(self.top_logprobs)
        return DecodedTokens(tuple(self.token_ids), tuple(self.logprobs), tuple(self.sources), finish, top)


@dataclass(eq=False, slots=True)
class Ticket:
    """A request in progress.

    max_new: maximum number of tokens of a sample. waiting: samples that have no row yet. ends_at: deadline on the
    engine's clock; None for none. error: the error that ended the request. shared_tokens: number of prompt tokens
    reused from other requests; -1 until the first rows are allocated.
    """

    handle: Handle
    request: EngineRequest
    max_new: int
    samples: list[Sample]
    waiting: deque[Sample]
    ends_at: float | None
    error: Exception | None = None
    shared_tokens: int = -1

    @property
    def done(self) -> bool:
        """Whether all samples are finished."""
        return self.error is not None or all(sample.finish is not None for sample in self.samples)


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """States kept for a prompt in addition to its keys and values.

    hidden: last hidden state (1, E). For a copying head also: states: all hidden states (1, P, E). token_ids: (1, P).
    keys: the head's keys (1, P, E).
    """

    hidden: Tensor
    states: Tensor | None = None
    token_ids: Tensor | None = None
    keys: Tensor | None = None


@dataclass(eq=False, slots=True)
class PromptRun:
    """A prompt that is being read. done: number of positions that are read. The rest is written to ``prompt.own``."""

    prompt: CachedPrompt
    done: int

    @property
    def left(self) -> int:
        """Number of tokens still to be read."""
        return len(self.prompt.token_ids) - self.done


@dataclass(eq=False, slots=True)
class Rows:
    """Samples of one request at the same position, each with its own range of ``stride`` positions.

    own: the ranges of all samples, adjacent. read: number of positions filled in each range. seen: mask (n, V) of the
    tokens that a repetition penalty applies to; None if not needed yet.
    """

    ticket: Ticket
    prompt: CachedPrompt
    samples: list[Sample]
    own: KeyRange
    stride: int
    read: int = 0
    seen: Tensor | None = None

    @property
    def ending(self) -> PromptEnd | None:
        """States kept for the prompt; None until it is read."""
        return self.prompt.ending if isinstance(self.prompt.ending, PromptEnd) else None

    def group(self, first: int, rows: int) -> RowGroup:
        """Return ``rows`` rows from ``first`` on as the model reads them, including the position of the next token."""
        start = self.own.start + first * self.stride
        return RowGroup(rows, self.prompt.ranges, start, self.stride, self.read + 1)
