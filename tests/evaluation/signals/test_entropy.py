"""Entropies and self-consistency: worked examples by the papers' formulae, and signals that are absent say why."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from evaluation.errors import EvaluationError
from evaluation.signals.consistency import self_consistency
from evaluation.signals.probabilities import largest_negative_logprob, mean_negative_logprob, predictive_entropy
from evaluation.signals.samples import SampledAnswer, SignalValue
from evaluation.signals.semantic_entropy import cluster, semantic_entropy

QUESTION = "What is the capital of France?"


def capitals(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Entailment by rule: the same city. "Paris, in Europe" entails "Paris", not the reverse."""
    out = []
    for premise, hypothesis in pairs:
        assert premise.startswith(QUESTION) and hypothesis.startswith(QUESTION)
        one, two = premise.removeprefix(QUESTION), hypothesis.removeprefix(QUESTION)
        same = any(city in one and city in two for city in ("Paris", "Rome"))
        out.append(same and ("Europe" in one or "Europe" not in two))
    return out


def sampled(text: str, *probabilities: float) -> SampledAnswer:
    logs = tuple(math.log(p) for p in probabilities)
    return SampledAnswer(text, logs, logs)


def test_kuhns_table_one() -> None:
    # Kuhn et al. 2023, Table 1 (b): Paris 0.5, It's Paris 0.4, London 0.1. Entropy of the three 0.94; two meanings:
    # 0.33.
    samples = (sampled("Paris", 0.5), sampled("It's Paris", 0.4), sampled("Rome", 0.1))
    found = semantic_entropy(QUESTION, samples, capitals)
    assert found.clusters == (0, 0, 1) and found.meanings == 2
    assert found.likelihood.value == pytest.approx(-0.9 * math.log(0.9) - 0.1 * math.log(0.1))
    assert found.likelihood.value == pytest.approx(0.33, abs=0.005)
    assert found.monte_carlo.value == pytest.approx(-(math.log(0.9) + math.log(0.1)) / 2)
    assert found.discrete.value == pytest.approx(-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3))
    assert found.largest == pytest.approx(math.log(3)) and found.bias == pytest.approx(-1 / 6)


def test_likelihoods_are_normalised_by_length_and_over_the_samples() -> None:
    # Farquhar et al. 2024: each sample's likelihood is exp(mean log p), summed in its cluster, divided by the total.
    samples = (sampled("Paris", 0.5, 0.5), sampled("Rome", 0.5, 0.125))
    found = semantic_entropy(QUESTION, samples, capitals)
    one, two = 0.5 / 0.75, 0.25 / 0.75
    assert found.likelihood.value == pytest.approx(-one * math.log(one) - two * math.log(two))


def test_entailment_one_way_is_another_meaning() -> None:
    assert cluster(QUESTION, ["Paris", "Paris, in Europe", "Paris"], capitals) == (0, 1, 0)
    assert cluster(QUESTION, ["same", "same"], lambda pairs: [False] * len(pairs)) == (0, 0)
    with pytest.raises(EvaluationError, match="0 of 2 pairs"):
        cluster(QUESTION, ["a", "b"], lambda pairs: [])


def test_without_sampling_probabilities_only_the_discrete_one_is_left() -> None:
    warm = SampledAnswer("Paris", (-0.1,), None)
    found = semantic_entropy(QUESTION, [warm, SampledAnswer("Rome", (-2.0,), None)], capitals)
    assert found.discrete.value == pytest.approx(math.log(2))
    assert found.likelihood.value is None and "sampling distribution" in found.likelihood.reason
    bare = semantic_entropy(QUESTION, [SampledAnswer("Paris")], capitals)
    assert bare.discrete.value == 0.0 == bare.bias and "no token probabilities" in bare.likelihood.reason
    with pytest.raises(EvaluationError, match="no samples"):
        semantic_entropy(QUESTION, [], capitals)


def test_token_probabilities() -> None:
    answer = sampled("a b", 0.5, 0.25)
    assert mean_negative_logprob(answer).value == pytest.approx(1.5 * math.log(2))
    assert largest_negative_logprob(answer).value == pytest.approx(2 * math.log(2))
    pair = [answer, sampled("c", 0.5)]
    assert predictive_entropy(pair).value == pytest.approx((3 + 1) / 2 * math.log(2))
    assert predictive_entropy(pair, normalised=True).value == pytest.approx((1.5 + 1) / 2 * math.log(2))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (SampledAnswer("a"), "no token probabilities"),
        (SampledAnswer("", ()), "no tokens"),
        (SampledAnswer("a", (-math.inf,)), "probability 0"),
    ],
)
def test_absent_signals_say_why(answer: SampledAnswer, reason: str) -> None:
    assert reason in mean_negative_logprob(answer).reason and mean_negative_logprob(answer).value is None
    assert reason in largest_negative_logprob(answer).reason


def test_samples_that_cannot_be_used_say_why() -> None:
    assert "no samples" in predictive_entropy([]).reason
    assert "sampling distribution" in predictive_entropy([SampledAnswer("a", (-1.0,))]).reason
    assert "no tokens" in predictive_entropy([SampledAnswer("a", (), ())]).reason
    assert "probability 0" in predictive_entropy([SampledAnswer("a", None, (-math.inf,))]).reason
    for bad in (0.5, math.nan):
        with pytest.raises(ValueError, match="at most 0"):
            SampledAnswer("a", (bad,))
    with pytest.raises(ValueError, match="needs a reason"):
        SignalValue(None)
    with pytest.raises(ValueError, match="finite"):
        SignalValue(math.inf)


def test_self_consistency() -> None:
    calls: list[tuple[str, str]] = []

    def supports(pairs: Sequence[tuple[str, str]]) -> list[float]:
        calls.extend(pairs)
        return [1.0 if statement in sample else 0.0 for sample, statement in pairs]

    found = self_consistency(["x", "y"], ["x and y", "x", "x", "z"], supports)
    assert found.by_statement == (pytest.approx(0.25), pytest.approx(0.75)) and found.inconsistency.value == 0.5
    assert len(calls) == 6  # the two equal samples are asked once
    assert self_consistency([], ["x"], supports).inconsistency.value is None
    assert "no samples" in self_consistency(["x"], [], supports).inconsistency.reason
    with pytest.raises(EvaluationError, match="1 values for 1 pairs"):
        self_consistency(["x"], ["y"], lambda pairs: [1.5])
