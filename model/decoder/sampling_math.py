"""Formulae from logits to sampling distributions; pure functions."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.errors import ModelError


def tempered_softmax(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """p_i = exp(z_i / tau) / sum_j exp(z_j / tau), for tau > 0 (Hinton, Vinyals and Dean 2015, eq. 1).

    logits (..., V), or log-probabilities (an added constant changes nothing) -> probabilities (..., V), fp32, or
    float64 for float64 logits. temperature: a number, or a tensor (..., 1), which is not validated. tau -> 0 is argmax.
    Raises ModelError if a number is not positive and finite.
    """
    if not isinstance(temperature, Tensor) and not (math.isfinite(temperature) and temperature > 0):
        raise ModelError(f"temperature is {temperature}: it must be a positive number (greedy decoding is argmax)")
    # Subtracting the maximum first keeps the quotient finite for any tau.
    return torch.softmax(_below_best(logits) / temperature, dim=-1)


def tempered_weights(logits: Tensor, temperature: Tensor) -> Tensor:
    """exp((z_i - max_j z_j) / tau): tempered_softmax before the division, elementwise and without a sum."""
    return (_below_best(logits) / temperature).exp_()


def _below_best(logits: Tensor) -> Tensor:
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return wide - wide.amax(dim=-1, keepdim=True)


def repetition_penalised(logits: Tensor, penalty: Tensor, seen: Tensor) -> Tensor:
    """z_i -> z_i / theta if z_i >= 0, z_i theta if z_i < 0, for seen tokens; the others are unchanged.

    Keskar et al. 2019 (CTRL), section 4.1, whose eq. for p_i divides every logit; a negative one is multiplied so that
    theta > 1 always makes a token less likely, as transformers' RepetitionPenaltyLogitsProcessor does. logits (B, V),
    penalty (B, 1) positive, seen (B, V) bool -> (B, V). Not invariant to an added constant: pass logits, not
    log-probabilities, if the model has them.
    """
    return torch.where(seen, torch.where(logits < 0, logits * penalty, logits / penalty), logits)
