"""The Completion: a generator's output for one sample of one prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "cancelled", "deadline"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one completion."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Citation:
    """``[n]`` in the answer: ``text[start:end] == f"[{number}]"``. number: index of the chunk in the prompt, from 1."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled answer.

    text: with its ``[n]`` citations. token_ids: without the end-of-sequence token. token_logprobs: natural logarithm of
    each token's probability under the model at temperature 1, before any bias, penalty or truncation, same length.
    finish_reason: "stop" (end token or stop string), "length", "cancelled" or "deadline". seed: of the sample.
    citations: in order of position; may be empty. top_logprobs: if requested, the likeliest alternatives of every token
    as (token id, log-probability as above), likeliest first, else empty.

    A server names tokens by text, if at all: token_ids and top_logprobs are then empty. logprobs_missing: why
    token_logprobs is empty although tokens were generated, else "". thought: the reasoning of a reasoning model,
    without tags; it is not part of the text, but its tokens are among the tokens.
    """

    text: str
    token_ids: tuple[int, ...]
    token_logprobs: tuple[float, ...]
    finish_reason: FinishReason
    usage: Usage
    seed: int
    citations: tuple[Citation, ...] = ()
    top_logprobs: tuple[tuple[tuple[int, float], ...], ...] = ()
    logprobs_missing: str = ""
    thought: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a streamed completion. The pieces of a sample, joined, are its Completion's text."""

    text: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of a streamed completion's reasoning. The pieces of a sample, joined, are its Completion's thought."""

    text: str
    sample: int = 0
