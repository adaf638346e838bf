"""Log-likelihood of candidate answers to a prompt under a reader, and of its own greedy answer."""

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
"""Tokens of an answer, including its end."""


@dataclass(frozen=True, slots=True)
class Belief:
    """logprobs: of each answer, in nats, over all of its tokens and its end.

    own: tokens of the reader's greedy answer when declining is excluded; own_logprob: its log-probability. They are
    empty and None if it does not end within MAX_TOKENS.
    """

    logprobs: tuple[float, ...]
    own: tuple[int, ...]
    own_logprob: float | None


def belief(reader: EmbeddedReader, prompt: Prompt, answers: Sequence[Sequence[int]]) -> Belief:
    """Score candidate answers. answers: token ids of each, 1 to MAX_TOKENS - 1 of them.

    The prompt, built for MAX_TOKENS, is read once. Probabilities are those at the reader's temperature, before its null
    bias: if the reader finds no answer in the prompt, every answer is unlikely. Raises ValueError for an answer of no
    or too many tokens.
    """
    for answer in answers:
        if not 1 <= len(answer) < MAX_TOKENS:
            raise ValueError(f"an answer has {len(answer)} tokens: 1 to {MAX_TOKENS - 1} are allowed")
    with torch.inference_mode():
        shown = _CachedPrompt(reader, prompt)
        own, own_logprob = shown.greedy()
        known = tuple(own_logprob if own == tuple(a) and own_logprob is not None else shown.given(a) for a in answers)
    return Belief(known, own, own_logprob)


class _CachedPrompt:
    """A prompt that has been read once, from which several answers are scored."""

    def __init__(self, reader: EmbeddedReader, prompt: Prompt) -> None:
        self._model, self._temperature = reader.model, reader.use.temperature
        self._end = reader.vocabulary.separator
        self._ids = torch.tensor([prompt.token_ids], device=self._model.device)
        self._cache = self._model.new_cache(1, len(prompt.token_ids) + MAX_TOKENS)
        self._states = self._model(self._ids, self._cache)  # (1, P, E)
        self._copyable = copyable_tokens(self._ids, FIRST_COPYABLE_ID, NULL_ID)
        self._first = self._next(self._states[:, -1], ())

    def given(self, answer: Sequence[int]) -> float:
        """Return the log-probability of the answer and its end."""
        total, found = 0.0, self._first
        self._cache.length = self._ids.shape[1]
        for count, token in enumerate(answer, start=1):
            total += float(found[token])
            found = self._after(answer[:count])
        return total + float(found[self._end])

    def greedy(self) -> tuple[tuple[int, ...], float | None]:
        """Decode greedily with declining excluded; the log-probability is not renormalised."""
        found = self._first.clone()
        found[NULL_ID] = -torch.inf
        answer: list[int] = []
        total = 0.0
        self._cache.length = self._ids.shape[1]
        while len(answer) < MAX_TOKENS - 1:
            token = int(found.argmax())
            total += float(found[token])
            if token == self._end:
                return tuple(answer), total
            answer.append(token)
            found = self._after(answer)
        return (), None

    def _after(self, answer: Sequence[int]) -> Tensor:
        """The distribution (V,) after an answer's tokens; all except the last are in the cache."""
        hidden = self._model(torch.tensor([[answer[-1]]], device=self._model.device), self._cache)
        return self._next(hidden[:, -1], answer)

    def _next(self, hidden: Tensor, answer: Sequence[int]) -> Tensor:
        pointer = self._model.config.head == "pointer"
        answer_ids = torch.tensor([[*answer, 0]], device=self._model.device) if answer else None
        memory = HeadMemory(self._states, self._ids, self._copyable, answer_ids) if pointer else None
        found = self._model.next_token(hidden, memory).logprobs[0]
        return torch.log_softmax(found / self._temperature, dim=-1)
