"""Formulae that turn logits into the distribution a token is drawn from; pure functions."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.errors import ModelError


def tempered_softmax(logits: Tensor, temperature: float) -> Tensor:
    """p_i = exp(z_i / tau) / sum_j exp(z_j / tau), for tau > 0 (Hinton, Vinyals and Dean 2015, eq. 1).

    logits (..., V), or log-probabilities: adding a constant changes nothing -> probabilities (..., V), fp32, or
    float64 for float64 logits. tau -> 0 is argmax. Raises ModelError when tau is not a positive finite number.
    """
    if not (math.isfinite(temperature) and temperature > 0):
        raise ModelError(f"temperature is {temperature}: it must be a positive number (greedy decoding is argmax)")
    wide = logits if logits.dtype == torch.float64 else logits.float()
    # Subtracting the maximum first keeps the quotient finite however small tau is.
    return torch.softmax((wide - wide.amax(dim=-1, keepdim=True)) / temperature, dim=-1)
