"""From log-probabilities to a token: temperature, top-k, nucleus, and a draw from the sample's own seed."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from generation.errors import GenerationError
from generation.params import SamplingParams
from model.sampling_math import tempered_softmax


def kept_probabilities(logprobs: Tensor, params: SamplingParams) -> Tensor:
    """logprobs (B, V) -> probabilities (B, V) in float64 after temperature, then top-k, then top-p, renormalised.

    temperature 0 is the limit tau -> 0: all mass on the likeliest token, the lowest id among equals. top-p keeps the
    smallest set of likeliest tokens whose probability reaches p (Holtzman et al. 2020, eq. 2), at least one.
    """
    if params.temperature == 0:
        best = logprobs.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logprobs, dtype=torch.float64).scatter_(-1, best, 1.0)
    probabilities = tempered_softmax(logprobs.double(), params.temperature)
    if params.top_k is not None and params.top_k < logprobs.shape[-1]:
        # stable: equals are kept in order of id, so that the set has exactly k tokens whatever the machine
        order = probabilities.sort(dim=-1, descending=True, stable=True).indices[..., params.top_k :]
        probabilities = probabilities.scatter(-1, order, 0.0)
    if params.top_p < 1:
        probabilities = probabilities / probabilities.sum(-1, keepdim=True)
        ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
        before = ordered.cumsum(-1) - ordered  # mass of the likelier tokens
        probabilities = probabilities.scatter(-1, order, ordered.masked_fill(before >= params.top_p, 0.0))
    return probabilities / probabilities.sum(-1, keepdim=True)


class SampleStream:
    """The random numbers of one sample: one uniform a token, from its seed alone."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.Philox(key=seed))

    def uniform(self) -> float:
        """The next number in [0, 1)."""
        return float(self._random.random())


def draw(probabilities: Tensor, uniforms: list[float]) -> Tensor:
    """probabilities (B, V) in float64, one uniform a row -> token ids (B), by inverting the cumulative distribution."""
    # A token of probability 0 gets its predecessor's value: a parallel sum rounds differently from place to place.
    cumulative = probabilities.cumsum(-1).masked_fill(probabilities == 0, 0.0).cummax(-1).values
    total = cumulative[:, -1:]
    points = torch.tensor(uniforms, dtype=torch.float64, device=probabilities.device)[:, None] * total
    # right=True: what has no width is never met, also at u = 0
    found = torch.searchsorted(cumulative, points, right=True).squeeze(-1)
    last = (probabilities > 0).to(torch.int8).flip(-1).argmax(-1)  # rounding at the top end: the last token kept
    return torch.minimum(found, probabilities.shape[-1] - 1 - last)


def check_finite(logprobs: Tensor) -> None:
    """Raise GenerationError when the model returned NaN or nothing that can be drawn: it is never sampled from."""
    if bool(torch.isnan(logprobs).any()) or not bool(torch.isfinite(logprobs.amax(-1)).all()):
        raise GenerationError(
            "the model returned NaN or infinite probabilities: its weights are damaged or overflow in this precision"
        )
