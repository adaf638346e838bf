"""Compute the log-likelihood of candidate answers under a reader, and of the reader's greedy answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generation.prompt import Prompt
from generation.reader.reader import EmbeddedReader
from model.decoder.heads import HeadMemory, copyable_tokens
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID

MAX_TOKENS = 32
"""Maximum number of tokens of an answer, including its end token."""


@dataclass(frozen=True, slots=True)
class AnswerLikelihoods:
    """Log-probabilities of candidate answers and of the reader's own answer.

    logprobs: log-probability of each candidate in nats, over its tokens and its end token. own: tokens of the reader's
    greedy answer when declining is excluded. own_logprob: log-probability of ``own``. They are empty and None if the
    greedy answer does not end within MAX_TOKENS.
    """

    logprobs: tuple[float, ...]
    own: tuple[int, ...]
    own_logprob: float | None


def answer_likelihoods(reader: EmbeddedReader, prompt: Prompt, answers: Sequence[Sequence[int]]) -> AnswerLikelihoods:
    """Return the log-probabilities of candidate answers to a prompt.

    prompt: built for MAX_TOKENS new tokens; it is read once. answers: token IDs of each candidate, 1 to MAX_TOKENS - 1.
    Probabilities are those at the reader's temperature, without its null bias: if the reader finds no answer in the
    prompt, every candidate is unlikely. Raises ValueError if a candidate has no or too many tokens.
    """
    for answer in answers:
        if not 1 <= len(answer) < MAX_TOKENS:
            raise ValueError(f"an answer has {len(answer)} tokens: 1 to {MAX_TOKENS - 1} are allowed")
    with torch.inference_mode():
        cached = _CachedPrompt(reader, prompt)
        own, own_logprob = cached.greedy()
        likelihoods = tuple(
            own_logprob if own == tuple(a) and own_logprob is not None else cached.score(a) for a in answers
        )
    return AnswerLikelihoods(likelihoods, own, own_logprob)


class _CachedPrompt:
    """A prompt that is read once to score several answers."""

    def __init__(self, reader: EmbeddedReader, prompt: Prompt) -> None:
        self._model, self._temperature = reader.model, reader.use.temperature
        self._end = reader.vocabulary.separator
        self._ids = torch.tensor([prompt.token_ids], device=self._model.device)
        self._cache = self._model.new_cache(1, len(prompt.token_ids) + MAX_TOKENS)
        self._states = self._model(self._ids, self._cache)  # (1, P, E)
        self._copyable = copyable_tokens(self._ids, FIRST_COPYABLE_ID, NULL_ID)
        self._first = self._next(self._states[:, -1], ())

    def score(self, answer: Sequence[int]) -> float:
        """Return the log-probability of the answer and its end token."""
        total, logprobs = 0.0, self._first
        self._cache.length = self._ids.shape[1]
        for count, token in enumerate(answer, start=1):
            total += float(logprobs[token])
            logprobs = self._after(answer[:count])
        return total + float(logprobs[self._end])

    def greedy(self) -> tuple[tuple[int, ...], float | None]:
        """Return the greedy answer with declining excluded, and its log-probability, which is not renormalised."""
        logprobs = self._first.clone()
        logprobs[NULL_ID] = -torch.inf
        answer: list[int] = []
        total = 0.0
        self._cache.length = self._ids.shape[1]
        while len(answer) < MAX_TOKENS - 1:
            token = int(logprobs.argmax())
            total += float(logprobs[token])
            if token == self._end:
                return tuple(answer), total
            answer.append(token)
            logprobs = self._after(answer)
        return (), None

    def _after(self, answer: Sequence[int]) -> Tensor:
        """Return the log-probabilities (V,) after the answer's tokens. All except the last must be in the cache."""
        hidden = self._model(torch.tensor([[answer[-1]]], device=self._model.device), self._cache)
        return self._next(hidden[:, -1], answer)

    def _next(self, hidden: Tensor, answer: Sequence[int]) -> Tensor:
        pointer = self._model.config.head == "pointer"
        answer_ids = torch.tensor([[*answer, 0]], device=self._model.device) if answer else None
        memory = HeadMemory(self._states, self._ids, self._copyable, answer_ids) if pointer else None
        logprobs = self._model.next_token(hidden, memory).logprobs[0]
        return torch.log_softmax(logprobs / self._temperature, dim=-1)
