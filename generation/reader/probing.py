"""Compute the reader's forced answer and its margin over declining, for calibration and risk curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from generation.reader.reader import EmbeddedReader
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID


@dataclass(frozen=True, slots=True)
class ForcedAnswer:
    """The answer of a reader that may not decline.

    completion: the greedy answer. margin: log-probability of its first token minus that of declining, in nats, without
    null bias. The reader declines if its null bias exceeds the margin.
    """

    completion: Completion
    margin: float


def force_answer(reader: EmbeddedReader, prompt: Prompt, max_tokens: int = 32) -> ForcedAnswer:
    """Return the greedy answer to a prompt with declining excluded, and its margin over declining."""
    with torch.inference_mode():
        first = distributions(reader.model, prompt.token_ids, ())[0] / reader.use.temperature  # (V,)
        null = float(first[NULL_ID])
        first[NULL_ID] = -torch.inf
        margin = float(first.max()) - null
    never = reader.with_null_bias(-1e4)
    return ForcedAnswer(never.generate(prompt, SamplingParams(max_tokens=max_tokens), (0,))[0], margin)


def distributions(model: Decoder, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
    """Return uncalibrated log-probabilities (A + 1, V) after the prompt and after each of the answer's A tokens."""
    ids = torch.tensor([prompt], device=model.device)
    cache = model.new_cache(1, len(prompt) + len(answer))
    hidden = model(ids, cache)  # (1, P, E)
    pointer = model.config.head == "pointer"
    memory = HeadMemory(hidden, ids, copyable_tokens(ids, FIRST_COPYABLE_ID, NULL_ID)) if pointer else None
    out = [model.next_token(hidden[:, -1], memory).logprobs[0]]
    for count, token in enumerate(answer, start=1):
        if memory is not None:
            answer_ids = torch.tensor([[*answer[:count], 0]], device=model.device)
            memory = HeadMemory(memory.states, memory.token_ids, memory.copyable, answer_ids)
        state = model(torch.tensor([[token]], device=model.device), cache)[:, -1]
        out.append(model.next_token(state, memory).logprobs[0])
    return torch.stack(out)
