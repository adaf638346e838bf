"""Convert logits to sampling distributions, with pure functions."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.errors import ModelError


def tempered_softmax(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """Return p_i = exp(z_i / tau) / sum_j exp(z_j / tau), for tau > 0 (Hinton, Vinyals and Dean 2015, eq. 1).

    logits: (..., V), logits or log-probabilities. temperature: tau, a number, or a tensor (..., 1), which is not
    validated. The probabilities (..., V) are in fp32, or in float64 for float64 logits. Raises ModelError if a number
    is not positive and finite.
    """
    if not isinstance(temperature, Tensor) and not (math.isfinite(temperature) and temperature > 0):
        raise ModelError(f"temperature is {temperature}: it must be a positive number (greedy decoding is argmax)")
    # Subtracting the maximum first keeps the quotient finite for any tau.
    return torch.softmax(_below_best(logits) / temperature, dim=-1)


def tempered_weights(logits: Tensor, temperature: Tensor) -> Tensor:
    """Return exp((z_i - max_j z_j) / tau), the unnormalised ``tempered_softmax``. It needs no sum over the tokens."""
    return (_below_best(logits) / temperature).exp_()


def _below_best(logits: Tensor) -> Tensor:
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return wide - wide.amax(dim=-1, keepdim=True)


def repetition_penalised(logits: Tensor, penalty: Tensor, seen: Tensor) -> Tensor:
    """Return the logits (B, V) with a repetition penalty on seen tokens (Keskar et al. 2019, CTRL, section 4.1).

    A seen token's logit is divided by the penalty theta if it is >= 0 and multiplied by theta if it is negative, so
    that theta > 1 always makes the token less likely (as in transformers; CTRL always divides). logits: (B, V).
    penalty: (B, 1), positive. seen: (B, V), bool. Pass logits if the model has them, not log-probabilities, because an
    added constant changes the result.
    """
    return torch.where(seen, torch.where(logits < 0, logits * penalty, logits / penalty), logits)
