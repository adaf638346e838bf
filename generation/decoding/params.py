"""SamplingParams: decoding settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from generation.errors import ParameterError

MAX_TOP_LOGPROBS = 20
"""Maximum number of alternatives for each token, as in OpenAI-compatible servers."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Decoding settings, validated on construction.

    temperature: divides the logits; 0 selects the likeliest token (greedy decoding). top_k: keep the k likeliest
    tokens; None keeps all. top_p: keep the smallest set of likeliest tokens whose total probability reaches p, in
    (0, 1]; 1 keeps all. max_tokens: maximum number of generated tokens, at least 1. stop: strings that end the
    completion; they are not part of its text. n: number of samples per prompt. seed: seed of the first sample.

    min_p: keep the tokens that are at least min_p times as likely as the likeliest one, in [0, 1]; 0 keeps all.
    repetition_penalty: divides positive and multiplies negative logits of tokens that occur in the prompt or the
    completion; 1 means no penalty. logit_bias: pairs (token ID, nats); nats is added to that token's logit, and -1e9
    excludes it. min_tokens: number of tokens to generate before an end token is allowed; stop strings end a completion
    earlier. top_logprobs: number of alternatives to return with every token, 0 to 20. deadline_seconds: time limit from
    the submission of the request; tokens generated until then are returned. None for no limit.

    generation.decoding.sampling describes the order of application. Raises ParameterError, which names the invalid
    value.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float = 1.0
    max_tokens: int = 64
    stop: tuple[str, ...] = ()
    n: int = 1
    seed: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    min_tokens: int = 0
    top_logprobs: int = 0
    deadline_seconds: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.temperature) or self.temperature < 0:
            raise ParameterError(
                "temperature", f"temperature is {self.temperature}: it must be 0 (greedy) or a positive number"
            )
        if self.top_k is not None and self.top_k < 1:
            raise ParameterError(
                "top_k", f"top_k is {self.top_k}: it must be at least 1, or omitted to keep all tokens"
            )
        if not 0 < self.top_p <= 1:
            raise ParameterError("top_p", f"top_p is {self.top_p}: it must be above 0 and at most 1")
        if not 0 <= self.min_p <= 1:
            raise ParameterError(
                "min_p", f"min_p is {self.min_p}: it must be at least 0 (keeps all tokens) and at most 1"
            )
        if not math.isfinite(self.repetition_penalty) or self.repetition_penalty <= 0:
            raise ParameterError(
                "repetition_penalty",
                f"repetition_penalty is {self.repetition_penalty}: it must be a positive number; 1 is no penalty",
            )
        if self.max_tokens < 1:
            raise ParameterError("max_tokens", f"max_tokens is {self.max_tokens}: it must be at least 1")
        if not 0 <= self.min_tokens <= self.max_tokens:
            raise ParameterError(
                "min_tokens",
                f"min_tokens is {self.min_tokens}: it must be from 0 to max_tokens, which is {self.max_tokens}",
            )
        if self.n < 1:
            raise ParameterError("n", f"n is {self.n}: at least one sample must be drawn")
        if any(not s for s in self.stop):
            raise ParameterError("stop", "a stop string is empty: give text or omit it")
        if not 0 <= self.seed < 2**63:
            raise ParameterError("seed", f"seed is {self.seed}: it must be in [0, 2**63)")
        if not 0 <= self.top_logprobs <= MAX_TOP_LOGPROBS:
            raise ParameterError(
                "top_logprobs", f"top_logprobs is {self.top_logprobs}: it must be in 0..{MAX_TOP_LOGPROBS}"
            )
        if self.deadline_seconds is not None and not 0 < self.deadline_seconds < math.inf:
            raise ParameterError(
                "deadline_seconds",
                f"deadline_seconds is {self.deadline_seconds}: it must be a positive number, or omitted for no limit",
            )
        self._check_bias()

    def _check_bias(self) -> None:
        named: set[int] = set()
        for token, nats in self.logit_bias:
            if token < 0:
                raise ParameterError("logit_bias", f"logit_bias names token {token}: ids start at 0")
            if token in named:
                raise ParameterError("logit_bias", f"logit_bias names token {token} twice: give each token one bias")
            if not math.isfinite(nats):
                raise ParameterError(
                    "logit_bias",
                    f"logit_bias of token {token} is {nats}: it must be a finite number of nats; -1e9 excludes a token",
                )
            named.add(token)

    @property
    def adjusts_logits(self) -> bool:
        """Whether logits are changed before the temperature, by bias, repetition penalty or min_tokens."""
        return bool(self.logit_bias) or self.repetition_penalty != 1.0 or self.min_tokens > 0

    @property
    def truncates(self) -> bool:
        """Whether tokens are excluded after the temperature, by top-k, top-p or min-p."""
        return self.top_k is not None or self.top_p < 1 or self.min_p > 0
