"""EngineOptions: the engine's memory budgets and modes."""

from __future__ import annotations

from dataclasses import dataclass

from generation.errors import GenerationError

GIBIBYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """memory_bytes: keys and values of requests and cached prompts, and what a copying head keeps of its prompts.

    The operating system allocates that memory when it is first written. cache_bytes: how much of it prompts without
    users may keep. max_rows: samples decoded at once. prefill_tokens: prompt tokens read between two decoding steps,
    which limits how long a long prompt delays others. block: prompts share prefixes of complete blocks of so many
    tokens.

    invariant: a request's numbers depend on its prompt and seed alone, bit for bit, regardless of the rest of the
    batch; decoding then runs in blocks of ``row_block`` rows, and prompts are read in chunks of prefill_tokens that
    start at multiples of it (docs/engine.md gives the cost). cuda_graphs: on a GPU, replay captured decoding steps (not
    in the invariant mode, nor for a prefix decoder). Raises GenerationError with the offending value.
    """

    memory_bytes: int = 2 * GIBIBYTE
    cache_bytes: int = GIBIBYTE // 2
    max_rows: int = 64
    prefill_tokens: int = 512
    block: int = 16
    invariant: bool = False
    row_block: int = 16
    cuda_graphs: bool = True

    def __post_init__(self) -> None:
        for name in ("memory_bytes", "max_rows", "prefill_tokens", "block", "row_block"):
            if getattr(self, name) < 1:
                raise GenerationError(f"engine option {name} is {getattr(self, name)}: it must be at least 1")
        if self.cache_bytes < 0:
            raise GenerationError(f"engine option cache_bytes is {self.cache_bytes}: it must be at least 0")

    @property
    def shared_block(self) -> int:
        """Tokens in the smallest prefix that two prompts share; complete chunks in invariant mode."""
        return self.prefill_tokens if self.invariant else self.block
