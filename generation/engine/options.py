"""EngineOptions: the engine's memory budgets and modes."""

from __future__ import annotations

from dataclasses import dataclass

from generation.errors import GenerationError

GIBIBYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Memory budgets and modes of an engine, validated on construction.

    memory_bytes: memory for keys and values of requests and cached prompts, and for the states of prompts that a
    copying head needs. The operating system allocates it when it is first written. cache_bytes: maximum part of it that
    prompts without users may occupy. max_rows: maximum number of samples decoded at once. prefill_tokens: maximum
    number of prompt tokens read between two decoding steps, which limits how long a long prompt delays other requests.
    block: number of tokens in a block; prompts share prefixes of complete blocks.

    invariant: whether a request's results depend on its prompt and seed alone, bit for bit, and not on the rest of the
    batch. Decoding then runs in blocks of ``row_block`` rows, and prompts are read in chunks of prefill_tokens that
    start at multiples of it (docs/engine.md gives the cost). cuda_graphs: whether to replay captured decoding steps on
    a GPU; no effect in invariant mode and for a prefix decoder. Raises GenerationError, which names the invalid value.
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
        """Number of tokens in the blocks that prompts share: ``block``, or prefill_tokens in invariant mode."""
        return self.prefill_tokens if self.invariant else self.block
