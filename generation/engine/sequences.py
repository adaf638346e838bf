"""What the engine knows of its requests: tickets, prompts being read, and rows that decode in lockstep."""

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
    """One completion in the making."""

    index: int
    stream: SampleStream
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    sources: list[tuple[CopySource, ...]] = field(default_factory=list)
    top_logprobs: list[tuple[tuple[int, float], ...]] = field(default_factory=list)
    finish: FinishReason | None = None

    def decoded(self) -> DecodedTokens:
        """What was drawn so far."""
        finish = self.finish or "length"
        top = tuple(self.top_logprobs)
        return DecodedTokens(tuple(self.token_ids), tuple(self.logprobs), tuple(self.sources), finish, top)


@dataclass(eq=False, slots=True)
class Ticket:
    """A request on its way. room: tokens a sample may have. waiting: samples without a row yet. ends_at: its deadline,
    on the engine's clock. shared_tokens: -1 until its prompt was looked up."""

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
        """No sample is unfinished."""
        return self.error is not None or all(sample.finish is not None for sample in self.samples)


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """What is kept of a prompt beside its keys: the last hidden state (1, E), and of a head that copies all of them
    (1, P, E), the tokens' ids (1, P) and the head's keys (1, P, E)."""

    hidden: Tensor
    states: Tensor | None = None
    token_ids: Tensor | None = None
    keys: Tensor | None = None


@dataclass(eq=False, slots=True)
class PromptRun:
    """A prompt that is being read; ``done`` of its positions are. kept.own is where the rest goes."""

    kept: CachedPrompt
    done: int

    @property
    def left(self) -> int:
        """Tokens still to be read."""
        return len(self.kept.token_ids) - self.done


@dataclass(eq=False, slots=True)
class Rows:
    """Samples of one request that stand at the same position, each with its own stretch of ``stride`` positions.

    own: all stretches; read: how many of each are filled. seen: (n, V), what a repetition penalty counts as repeated.
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
        """What the prompt's last position said; None until it is read."""
        return self.prompt.ending if isinstance(self.prompt.ending, PromptEnd) else None

    def group(self, first: int, rows: int) -> RowGroup:
        """Rows ``first`` .. as a decoding step reads them, the token that is read next included."""
        start = self.own.start + first * self.stride
        return RowGroup(rows, self.prompt.ranges, start, self.stride, self.read + 1)
