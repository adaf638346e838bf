"""Compute signals from token probabilities: those of the answer, and the entropy of the distribution over answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.signals.samples import SampledAnswer, SignalValue

NO_LOGPROBS = "the generator gives no token probabilities"
NO_SAMPLING_LOGPROBS = "the probabilities under the sampling distribution are unknown"
EMPTY = "the answer has no tokens"


def mean_negative_logprob(answer: SampledAnswer) -> SignalValue:
    """Return -(1/T) sum_t log p_t of the answer's tokens, in nats; 0 is certain (Manakul et al. 2023, "Avg")."""
    tokens = _tokens(answer)
    return tokens if isinstance(tokens, SignalValue) else SignalValue(-float(np.mean(tokens)))


def largest_negative_logprob(answer: SampledAnswer) -> SignalValue:
    """Return -min_t log p_t, for the answer's least likely token, in nats (Manakul et al. 2023, "Max")."""
    tokens = _tokens(answer)
    return tokens if isinstance(tokens, SignalValue) else SignalValue(-float(np.min(tokens)))


def predictive_entropy(samples: Sequence[SampledAnswer], normalised: bool = False) -> SignalValue:
    """Return -(1/n) sum_i log p(s_i | x), the Monte Carlo estimate of H(Y | x) in nats (Malinin and Gales 2021).

    normalised: whether to use log p(s_i | x) / T_i, where T_i is the number of tokens, so that length alone does not
        increase uncertainty (ibid.).

    The probabilities are those of the sampling distribution, because the mean estimates its entropy only then.
    """
    found = sampling_loglikelihoods(samples, normalised)
    return found if isinstance(found, SignalValue) else SignalValue(-float(np.mean(found)))


def sampling_loglikelihoods(samples: Sequence[SampledAnswer], normalised: bool) -> list[float] | SignalValue:
    """Return log p(s_i | x) of each sample, or the reason why they are unknown.

    normalised: whether to divide each by its number of tokens.
    """
    if not samples:
        return SignalValue(None, "there are no samples")
    values = []
    for sample in samples:
        tokens = sample.sampling_logprobs
        if tokens is None:
            return SignalValue(None, NO_LOGPROBS if sample.logprobs is None else NO_SAMPLING_LOGPROBS)
        if not tokens:
            return SignalValue(None, "a sample has no tokens")
        total = float(np.sum(tokens))
        if not np.isfinite(total):
            return SignalValue(None, "a sample has a token of probability 0")
        values.append(total / len(tokens) if normalised else total)
    return values


def _tokens(answer: SampledAnswer) -> tuple[float, ...] | SignalValue:
    if answer.logprobs is None:
        return SignalValue(None, NO_LOGPROBS)
    if not answer.logprobs:
        return SignalValue(None, EMPTY)
    if not np.all(np.isfinite(answer.logprobs)):
        return SignalValue(None, "the answer has a token of probability 0")
    return answer.logprobs
