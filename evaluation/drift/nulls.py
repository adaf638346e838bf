"""Tests of two null hypotheses for neighbouring unsupported claims, each by permutations that leave it invariant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.drift.sequences import Ints, Sequences, adjacent_pairs, expected_pairs
from evaluation.statistics.counts import Floats

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NullTest:
    """Permutation test of one null hypothesis.

    pairs: observed number of adjacent unsupported pairs. expected: its expectation under the null. excess: pairs minus
    expected. All three are sums over questions.
    statistic: excess divided by the root of the sum of squares by question; None if nothing can be rearranged.
    p_value: two-sided, (1 + b) / (1 + B).
    questions: number of questions that can vary.
    reason: why there is no test.
    """

    pairs: float
    expected: float
    excess: float
    statistic: float | None
    p_value: float | None
    questions: int
    permutations: int
    seed: int
    reason: str = ""


def shuffle_within(sequences: Sequences, permutations: int, seed: int) -> NullTest:
    """Test null 1: the order within a response is random, given its number of unsupported claims.

    All responses to a question are shuffled by one random order of positions (a shorter response by the induced order),
    so that samples with the same errors do not count as independent evidence. The test is exact if they have one length
    or are independent, and approximately exact otherwise.
    """
    expected = expected_pairs(sequences.unsupported, sequences.scored)
    centre = sequences.by_question(expected)
    observed = sequences.by_question(adjacent_pairs(sequences.unsupported))
    # Only scored claims move, and only to scored positions. Unscored claims keep their positions.
    movable = _movable(sequences)
    rng = np.random.default_rng([seed, sequences.questions, permutations, 1])
    part = _subset(sequences, movable)
    width = part.scored.shape[1] if part.question.size else 0

    def rearranged() -> Floats:
        # One key per question and position; sorting a response's keys gives the induced order.
        keys = rng.random((sequences.questions, width))[part.question]
        keys = np.where(part.scored > 0, keys, 2.0)
        order = np.argsort(keys, axis=1)
        values = np.take_along_axis(part.unsupported, order, axis=1)
        positions = np.argsort(part.scored <= 0, axis=1, kind="stable")
        shuffled = np.zeros_like(values)
        np.put_along_axis(shuffled, positions, values, axis=1)
        return adjacent_pairs(shuffled)

    return _test(
        sequences, observed, centre, part, rearranged, permutations, seed, "no response has claims of both kinds"
    )


def permute_across(sequences: Sequences, permutations: int, seed: int) -> NullTest:
    """Test null 2: given question, length and position, each sample is equally likely to have the unsupported claim.

    This keeps the share at each position of each question. It therefore keeps every trend over positions, and every
    topic that is hard at a position for all samples. Samples of different length, or with unscored claims at different
    positions, are not mixed.
    """
    groups = _groups(sequences)
    sizes = np.bincount(groups)
    movable = (sizes[groups] > 1) & _varies(sequences, groups)
    part = _subset(sequences, movable)
    own = groups[movable]
    rng = np.random.default_rng([seed, sequences.questions, permutations, 2])
    pairs = adjacent_pairs(sequences.unsupported)
    expected = pairs.copy()
    if own.size:
        # Columns are independent, so a group of n expects c_k c_{k+1} / n pairs, which are divided among its rows.
        totals = np.zeros((sizes.size, part.unsupported.shape[1]))
        np.add.at(totals, own, part.unsupported)
        expected[movable] = (adjacent_pairs(totals) / np.maximum(sizes, 1) ** 2)[own]
    order_in = np.argsort(own, kind="stable")

    def rearranged() -> Floats:
        keys = rng.random(part.unsupported.shape) + own[:, None]
        order = np.argsort(keys, axis=0, kind="stable")  # permutes each column independently within its group
        moved = np.empty_like(part.unsupported)
        moved[order_in] = np.take_along_axis(part.unsupported, order, axis=0)
        return adjacent_pairs(moved)

    observed, centre = sequences.by_question(pairs), sequences.by_question(expected)
    reason = "no question has two responses of one length that differ"
    return _test(sequences, observed, centre, part, rearranged, permutations, seed, reason)


def _test(
    sequences: Sequences,
    observed: Floats,
    centre: Floats,
    part: Sequences,
    rearranged: Callable[[], Floats],
    permutations: int,
    seed: int,
    reason: str,
) -> NullTest:
    """Compare |sum d_q| / sqrt(sum d_q^2) with its permutation distribution; d_q = pairs - expected of a question."""
    difference = observed - centre
    varying = np.unique(part.question).size
    total = (float(observed.sum()), float(centre.sum()), float(difference.sum()))
    if not varying:
        return NullTest(*total, None, None, 0, permutations, seed, reason)
    centring = part.by_question(adjacent_pairs(part.unsupported)) - difference  # centre of the pairs in ``part``
    threshold = studentised(difference)
    extreme = 0
    for _ in range(permutations):
        moved = part.by_question(rearranged()) - centring
        extreme += abs(studentised(moved)) >= abs(threshold) - 1e-9
    p = (1 + extreme) / (1 + permutations)
    return NullTest(*total, threshold, p, varying, permutations, seed)


def studentised(differences: Floats) -> float:
    """Return sum d_q / sqrt(sum d_q^2), or 0 if no question differs: (Q,) -> number."""
    scale = float(np.sqrt((differences**2).sum()))
    return float(differences.sum()) / scale if scale > 1e-12 else 0.0


def _movable(sequences: Sequences) -> Bools:
    """Return a mask of the responses that shuffling can change, (R,).

    They have scored claims of both kinds and two scored neighbours.
    """
    u, k = sequences.unsupported.sum(axis=1), sequences.scored.sum(axis=1)
    result: Bools = (u > 0) & (u < k) & (adjacent_pairs(sequences.scored) > 0)
    return result


def _groups(sequences: Sequences) -> Ints:
    """Return the group number of each response, (R,).

    A group has the same question, length and pattern of scored positions.
    """
    _, pattern = np.unique(sequences.scored, axis=0, return_inverse=True)
    key = np.stack([sequences.question, sequences.length, np.ravel(pattern)], axis=1)
    _, groups = np.unique(key, axis=0, return_inverse=True)
    return np.ravel(groups).astype(np.intp)


def _varies(sequences: Sequences, groups: Ints) -> Bools:
    """Return a mask of the responses whose group differs at two or more neighbouring positions, (R,).

    Only in such groups can a permutation change the number of pairs.
    """
    count = int(groups.max()) + 1
    totals = np.zeros((count, sequences.unsupported.shape[1]))
    np.add.at(totals, groups, sequences.unsupported)
    sizes = np.bincount(groups, minlength=count)[:, None]
    mixed: Bools = np.logical_and(totals > 0, totals < sizes)
    varied: Bools = np.asarray((mixed[:, 1:] & mixed[:, :-1]).any(axis=1))
    return varied[groups]


def _subset(sequences: Sequences, keep: Bools) -> Sequences:
    rows = np.flatnonzero(keep)
    return Sequences(
        sequences.question_ids,
        sequences.question[rows],
        sequences.length[rows],
        sequences.unsupported[rows],
        sequences.scored[rows],
    )
