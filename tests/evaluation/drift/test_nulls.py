"""Tests of dependence between neighbouring claims on simulated responses, with and without dependence."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from evaluation.drift.drift import NOT_CONTAGION, drift, joint_reading
from evaluation.drift.nulls import permute_across, shuffle_within
from evaluation.drift.sequences import ClaimSequence, adjacent_pairs, expected_pairs, to_arrays
from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats
from evaluation.statistics.measure import Settings

Generator = Callable[[np.random.Generator, Floats], Floats]
SETTINGS = Settings(bootstrap=200, permutations=99)
PERMUTATIONS = 99


def responses(
    make: Generator, seed: int, questions: int = 40, samples: int = 6, claims: int = 8
) -> list[ClaimSequence]:
    """Return simulated responses.

    make: called for one question at a time with (rng, rates of the question by position, (S, K)); returns S x K of 0
    and 1.
    """
    rng = np.random.default_rng([5, seed])
    out = []
    for q in range(questions):
        rate = np.full((samples, claims), rng.beta(2, 3))
        out += [ClaimSequence(f"q{q:02d}", tuple(bool(v) for v in row)) for row in make(rng, rate)]
    return out


def exchangeable(rng: np.random.Generator, rate: Floats) -> Floats:
    return rng.random(rate.shape) < rate


def contagious(rng: np.random.Generator, rate: Floats) -> Floats:
    """Simulate dependence: each claim is more likely to be unsupported after an unsupported one."""
    out = np.zeros(rate.shape, bool)
    for k in range(rate.shape[1]):
        out[:, k] = rng.random(len(rate)) < (rate[:, k] if k == 0 else 0.15 + 0.6 * out[:, k - 1])
    return out


def position_trend(rng: np.random.Generator, rate: Floats) -> Floats:
    return rng.random(rate.shape) < np.linspace(0.05, 0.85, rate.shape[1])


def shared_topics(rng: np.random.Generator, rate: Floats) -> Floats:
    """Simulate two neighbouring topics of four claims, each easy or hard for the question in all samples."""
    return rng.random(rate.shape) < np.repeat(rng.choice([0.1, 0.8], rate.shape[1] // 4), 4)


def own_topics(rng: np.random.Generator, rate: Floats) -> Floats:
    """Simulate topics that differ by sample: positions explain nothing, and no claim causes another."""
    hard = rng.choice([0.1, 0.8], (rate.shape[0], rate.shape[1] // 4))
    return rng.random(rate.shape) < np.repeat(hard, 4, axis=1)


def leaning_verifier(rng: np.random.Generator, rate: Floats) -> Floats:
    """Simulate a verifier that sees the previous claim and doubts the next after it doubted one.

    True errors are exchangeable.
    """
    truth = rng.random(rate.shape) < 0.3
    predicted = truth.copy()
    for k in range(1, rate.shape[1]):
        predicted[:, k] |= predicted[:, k - 1] & (rng.random(len(rate)) < 0.5)
    return predicted


def test_expected_pairs_are_the_mean_over_all_orders() -> None:
    values, scored = np.array([1.0, 0, 1, 1, 0]), np.array([1.0, 1, 1, 0, 1])
    values = values * scored
    places = np.flatnonzero(scored)
    seen = []
    for order in permutations(places):
        moved = np.zeros(5)
        moved[places] = values[list(order)]
        seen.append(adjacent_pairs(moved))
    assert float(expected_pairs(values, scored)) == pytest.approx(np.mean(seen))
    u, k = 3.0, 7
    full = np.array([1.0] * 3 + [0.0] * 4)
    assert float(expected_pairs(full, np.ones(k))) == pytest.approx(u * (u - 1) / k)


def test_real_dependence_is_found_against_both_nulls() -> None:
    found = drift(responses(contagious, 1), SETTINGS, PERMUTATIONS)
    assert found.shuffled.p_value == found.permuted.p_value == found.p_both == 0.01
    assert found.reading == "dependence" and found.shuffled.excess > 0 and found.permuted.excess > 0
    assert "dependent" in found.summary and NOT_CONTAGION in found.summary


@pytest.mark.parametrize("test", [shuffle_within, permute_across])
def test_exchangeable_errors_reject_one_time_in_twenty(test: Callable[..., object]) -> None:
    # 120 data sets at a true level of 0.05: 6 expected; more than 16 have probability 1 in 11,000, and the seeds are
    # fixed.
    rejected = 0
    for seed in range(120):
        found = test(to_arrays(responses(exchangeable, seed, 15, 4, 6)), 59, seed)
        rejected += found.p_value is not None and found.p_value <= 0.05  # type: ignore[attr-defined]
    assert rejected <= 16


def test_copies_of_one_response_are_no_more_witnesses_than_one() -> None:
    # Ten identical samples per question in random order. If each were shuffled alone, they would count as ten times the
    # evidence and reject about half the time. At a level of 0.05, more than 16 of 120 have probability 1 in 11,000.
    def copies(rng: np.random.Generator, rate: Floats) -> Floats:
        return np.repeat(rng.random((1, rate.shape[1])) < rate[:1], len(rate), axis=0)

    rejected = 0
    for seed in range(120):
        p = shuffle_within(to_arrays(responses(copies, seed, 12, 10, 6)), 59, seed).p_value
        rejected += p is not None and p <= 0.05
    assert rejected <= 16


@pytest.mark.parametrize("make", [position_trend, shared_topics])
def test_what_position_explains_is_told_apart_and_named(make: Generator) -> None:
    found = drift(responses(make, 2), SETTINGS, PERMUTATIONS)
    assert found.shuffled.p_value == 0.01 and found.permuted.p_value is not None and found.permuted.p_value > 0.05
    assert found.reading == "positions" and NOT_CONTAGION in found.summary
    assert "position trend" in found.summary and "topics of equal difficulty" in found.summary
    if make is position_trend:
        assert found.trend.slope == pytest.approx(0.8 / 7, abs=0.03) and "points a claim" in found.summary


@pytest.mark.parametrize("make", [own_topics, leaning_verifier])
def test_what_both_nulls_reject_is_still_not_called_contagion(make: Generator) -> None:
    found = drift(responses(make, 3), SETTINGS, PERMUTATIONS)
    assert found.reading == "dependence"
    assert "not contagion" in found.summary and "topics of equal difficulty" in found.summary
    assert "verifier whose errors depend on earlier claims" in found.summary


def test_responses_that_are_bad_as_a_whole_do_not_reject_order() -> None:
    def levels(rng: np.random.Generator, rate: Floats) -> Floats:
        return rng.random(rate.shape) < rng.choice([0.05, 0.9], (len(rate), 1))

    found = drift(responses(levels, 4), SETTINGS, PERMUTATIONS)
    assert found.permuted.p_value == 0.01 and found.reading == "levels" and "not contagion" in found.summary


def test_nothing_to_rearrange_is_said() -> None:
    same = [ClaimSequence("a", (True, True)), ClaimSequence("b", (False, False, False))]
    found = drift(same, SETTINGS, PERMUTATIONS)
    assert found.reading == "untested" and found.p_both is None and "claims of both kinds" in found.summary
    assert joint_reading(found.shuffled, found.permuted) == "untested"
    with pytest.raises(EvaluationError, match="claim"):
        drift([ClaimSequence("a", ())], SETTINGS)


def test_unscored_claims_are_no_neighbours_and_stay_where_they_are() -> None:
    one = [ClaimSequence(f"q{i}", (True, None, True, False, None)) for i in range(6)]
    found = drift(one, SETTINGS, PERMUTATIONS)
    assert found.unscored == 12 and found.claims == 30 and found.shuffled.pairs == 0
    # The scored positions 1, 3 and 4 have one pair of neighbours; 2 of 3 unsupported: 1/3 expected each.
    assert found.shuffled.expected == pytest.approx(6 / 3)
