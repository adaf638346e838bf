"""SamplingParams: how a completion is drawn from the model's next-token distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass

from generation.errors import GenerationError


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Decoding settings, checked when made.

    temperature: 0 is greedy argmax; tau > 0 divides the logits. top_k: keep the k likeliest tokens, None keeps all.
    top_p: keep the smallest set of likeliest tokens whose probability reaches p, in (0, 1]. max_tokens: at least 1.
    stop: strings that end the completion, not part of its text. n: samples per prompt. seed: of the first sample.
    Raises GenerationError with the offending value.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float = 1.0
    max_tokens: int = 64
    stop: tuple[str, ...] = ()
    n: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not math.isfinite(self.temperature) or self.temperature < 0:
            raise GenerationError(f"temperature is {self.temperature}: it must be 0 (greedy) or a positive number")
        if self.top_k is not None and self.top_k < 1:
            raise GenerationError(f"top_k is {self.top_k}: it must be at least 1, or left out to keep all tokens")
        if not 0 < self.top_p <= 1:
            raise GenerationError(f"top_p is {self.top_p}: it must be above 0 and at most 1")
        if self.max_tokens < 1:
            raise GenerationError(f"max_tokens is {self.max_tokens}: it must be at least 1")
        if self.n < 1:
            raise GenerationError(f"n is {self.n}: at least one sample must be drawn")
        if any(not s for s in self.stop):
            raise GenerationError("a stop string is empty: give text, or leave it out")
        if not 0 <= self.seed < 2**63:
            raise GenerationError(f"seed is {self.seed}: it must be in [0, 2**63)")
