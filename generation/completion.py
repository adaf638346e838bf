"""The Completion: what a generator returned for one sample of one prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one completion."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Citation:
    """``[n]`` in the answer: ``text[start:end] == f"[{number}]"``. number counts the prompt's chunks from 1."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled answer.

    text: with its ``[n]`` citations. token_ids: without the end-of-sequence token; token_logprobs: natural logarithm of
    each one's probability under the model at temperature 1, before truncation, same length. finish_reason: "stop" (end
    token or stop string) or "length". seed: the sample's own. citations: in order of place; empty when none was made.
    """

    text: str
    token_ids: tuple[int, ...]
    token_logprobs: tuple[float, ...]
    finish_reason: FinishReason
    usage: Usage
    seed: int
    citations: tuple[Citation, ...] = ()
