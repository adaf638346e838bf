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
    """A citation ``[n]`` in the answer, at ``text[start:end]``. number: number of the chunk in the prompt, from 1."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled answer.

    text: the answer, including its ``[n]`` citations. token_ids: generated tokens without the end-of-sequence token.
    token_logprobs: for each token, the natural logarithm of its probability under the model at temperature 1, before
    any bias, penalty or truncation. finish_reason: "stop" (end token or stop string), "length", "cancelled" or
    "deadline". usage: token counts. seed: seed of the sample. citations: citations in order of position. top_logprobs:
    if requested, the likeliest alternatives of every token as (token ID, log-probability), likeliest first; otherwise
    empty.

    Servers identify tokens by their text, if at all; token_ids and top_logprobs are then empty. logprobs_missing: the
    reason why token_logprobs is empty although tokens were generated; otherwise "". thought: the reasoning of a
    reasoning model, without tags. It is not part of ``text``, but its tokens are included in ``token_ids``.
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
    """A piece of a streamed completion. The joined pieces of a sample are its Completion's text."""

    text: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of a streamed completion's reasoning. The joined pieces of a sample are its Completion's thought."""

    text: str
    sample: int = 0
