"""Compute semantic entropy, the entropy over meanings. Answers that entail each other have the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.signals.probabilities import sampling_loglikelihoods
from evaluation.signals.samples import SampledAnswer, SignalValue
from evaluation.statistics.counts import Floats

Entails = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""Function that returns whether the first text entails the second, for each (premise, hypothesis)."""


@dataclass(frozen=True, slots=True)
class SemanticEntropy:
    """Entropies over meanings, in nats.

    clusters: cluster of each sample, numbered from 0 in order of appearance.
    meanings: number of clusters.
    discrete: entropy from shares of samples.
    likelihood: entropy from length-normalised likelihoods under the sampling distribution, normalised over the samples
        (Farquhar et al. 2024).
    monte_carlo: plain mean over meanings of the same likelihoods (Kuhn et al. 2023).
    largest: log n, the maximum for n samples.
    bias: bias of ``discrete``, to first order -(meanings - 1) / 2n with the observed number of meanings (Miller 1955).
        The estimate is too small, and more so with rare meanings.
    """

    clusters: tuple[int, ...]
    meanings: int
    discrete: SignalValue
    likelihood: SignalValue
    monte_carlo: SignalValue
    largest: float
    bias: float


def semantic_entropy(question: str, samples: Sequence[SampledAnswer], entails: Entails) -> SemanticEntropy:
    """Cluster the samples by meaning and compute the entropy over clusters. Raises EvaluationError without samples.

    entails: judges all pairs in one call. Use a model other than the verifier of the answers, because a verifier would
        otherwise evaluate its own signal.
    """
    if not samples:
        raise EvaluationError("there are no samples to compute semantic entropy")
    clusters = cluster(question, [s.text for s in samples], entails)
    meanings = max(clusters) + 1
    counts = np.bincount(clusters, minlength=meanings).astype(np.float64)
    n = len(samples)
    likelihoods = sampling_loglikelihoods(samples, normalised=True)
    if isinstance(likelihoods, SignalValue):
        likelihood = monte_carlo = likelihoods
    else:
        log_mass = cluster_log_masses(clusters, likelihoods)
        likelihood = SignalValue(normalised_entropy(log_mass))
        monte_carlo = SignalValue(-float(np.mean(log_mass)))
    return SemanticEntropy(
        clusters,
        meanings,
        SignalValue(discrete_entropy(counts)),
        likelihood,
        monte_carlo,
        float(np.log(n)),
        -(meanings - 1) / (2.0 * n),
    )


def cluster(question: str, answers: Sequence[str], entails: Entails) -> tuple[int, ...]:
    """Return the cluster of each answer by bidirectional entailment (Kuhn et al. 2023, Algorithm 1).

    The question precedes each answer. An answer joins the first cluster whose first member it entails and is entailed
    by. Equal texts share a cluster without a call. The relation need not be transitive, so the result depends on the
    order of the samples.
    """
    texts = list(dict.fromkeys(answers))
    pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts)) if i != j]
    verdicts = list(entails([(f"{question} {texts[i]}", f"{question} {texts[j]}") for i, j in pairs]) if pairs else ())
    if len(verdicts) != len(pairs):
        raise EvaluationError(f"the entailment function answered {len(verdicts)} of {len(pairs)} pairs")
    holds = {pair: bool(verdict) for pair, verdict in zip(pairs, verdicts, strict=True)}
    first: list[int] = []  # index of each cluster's first text
    own: list[int] = []
    for i in range(len(texts)):
        found = next((c for c, head in enumerate(first) if holds[i, head] and holds[head, i]), None)
        if found is None:
            found = len(first)
            first.append(i)
        own.append(found)
    by_text = dict(zip(texts, own, strict=True))
    return tuple(by_text[answer] for answer in answers)


def discrete_entropy(counts: Floats) -> float:
    """Return the plug-in estimate -sum_c (n_c / n) log(n_c / n) (Farquhar et al. 2024, "discrete semantic entropy")."""
    share = counts[counts > 0] / counts.sum()
    return max(0.0, -float((share * np.log(share)).sum()))


def cluster_log_masses(clusters: Sequence[int], loglikelihoods: Sequence[float]) -> Floats:
    """Return log p(c | x) = log sum_{s in c} p(s | x) of each cluster (Kuhn et al. 2023): (n,), (n,) -> (C,)."""
    where, values = np.asarray(clusters), np.asarray(loglikelihoods)
    return np.array([np.logaddexp.reduce(values[where == c]) for c in range(int(where.max()) + 1)])


def normalised_entropy(log_mass: Floats) -> float:
    """Return -sum_c P_c log P_c with P_c = p(c | x) / sum p(c' | x) (Farquhar et al. 2024)."""
    log_share = log_mass - np.logaddexp.reduce(log_mass)
    return max(0.0, -float((np.exp(log_share) * log_share).sum()))
