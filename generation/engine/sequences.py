"""The engine's state of its requests: tickets, prompts being read, and rows that decode in lockstep."""

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

    room: maximum tokens of a sample. waiting: samples without a row yet. ends_at: its deadline, on the engine's clock.
    shared_tokens: -1 until its prompt was looked up.
    """

    handle: Handle
    request: EngineRequest
    room: int
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
    """Final states kept of a prompt in addition to its keys: the last hidden state (1, E); for a copying head also all
    of them.

    A copying head keeps the states (1, P, E), the tokens' ids (1, P) and the head's keys (1, P, E).
    """

    hidden: Tensor
    states: Tensor | None = None
    token_ids: Tensor | None = None
    keys: Tensor | None = None


@dataclass(eq=False, slots=True)
class PromptRun:
    """A prompt being read; ``done`` positions are finished. kept.own is the range for the rest."""

    kept: CachedPrompt
    done: int

    @property
    def left(self) -> int:
        """Number of tokens still to be read."""
        return len(self.kept.token_ids) - self.done


@dataclass(eq=False, slots=True)
class Rows:
    """Samples of one request at the same position, each with its own range of ``stride`` positions.

    own: all ranges; read: how many positions of each are filled. seen: (n, V), tokens that a repetition penalty counts.
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
        """Final states of the prompt; None until it is read."""
        return self.prompt.ending if isinstance(self.prompt.ending, PromptEnd) else None

    def group(self, first: int, rows: int) -> RowGroup:
        """Rows from ``first`` on as a decoding step reads them, including the next token."""
        start = self.own.start + first * self.stride
        return RowGroup(rows, self.prompt.ranges, start, self.stride, self.read + 1)
