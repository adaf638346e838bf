"""Responses as sequences of claims, and their number of adjacent unsupported pairs, observed and expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ClaimSequence:
    """Claims of one response in the order of the text: True unsupported, False supported, None unscored."""

    question_id: str
    unsupported: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class Sequences:
    """R responses to Q questions, padded to K claims.

    question: (R,), index of each response's question, from 0. length: (R,), number of claims, scored or not.
    unsupported, scored: (R, K) of 0 and 1.
    """

    question_ids: tuple[str, ...]
    question: Ints
    length: Ints
    unsupported: Floats
    scored: Floats

    @property
    def questions(self) -> int:
        """Number of questions."""
        return len(self.question_ids)

    def by_question(self, values: Floats) -> Floats:
        """Return the sums over the responses of each question: (R, ...) -> (Q, ...)."""
        totals = np.zeros((self.questions, *values.shape[1:]))
        np.add.at(totals, self.question, values)
        return totals


def to_arrays(responses: Sequence[ClaimSequence]) -> Sequences:
    """Convert responses with at least one claim to arrays; questions are sorted by ID.

    Raises EvaluationError if no response has a claim.
    """
    with_claims = [r for r in responses if r.unsupported]
    if not with_claims:
        raise EvaluationError("no response makes a claim, so there are no sequences to analyse")
    ids = tuple(sorted({r.question_id for r in with_claims}))
    index_of = {question: i for i, question in enumerate(ids)}
    longest = max(len(r.unsupported) for r in with_claims)
    unsupported, scored = np.zeros((len(with_claims), longest)), np.zeros((len(with_claims), longest))
    for row, response in enumerate(with_claims):
        for k, value in enumerate(response.unsupported):
            scored[row, k] = value is not None
            unsupported[row, k] = value is True
    return Sequences(
        ids,
        np.array([index_of[r.question_id] for r in with_claims], dtype=np.intp),
        np.array([len(r.unsupported) for r in with_claims], dtype=np.intp),
        unsupported,
        scored,
    )


def adjacent_pairs(unsupported: Floats) -> Floats:
    """Return the number of adjacent unsupported pairs: (..., K) -> (...). Unscored claims form no pairs."""
    result: Floats = (unsupported[..., 1:] * unsupported[..., :-1]).sum(axis=-1)
    return result


def expected_pairs(unsupported: Floats, scored: Floats) -> Floats:
    """Return the expected number of adjacent unsupported pairs if the scored claims are in random order.

    Shapes: (..., K), (..., K) -> (...). The expectation is u (u - 1) / (K (K - 1)) for each of the J adjacent scored
    positions. Without unscored claims J = K - 1, and it is u (u - 1) / K (docs/architecture.md, rule 6). The share of
    successes after a success would be biased downwards (Miller and Sanjurjo 2018).
    """
    u, k = unsupported.sum(axis=-1), scored.sum(axis=-1)
    pairs = adjacent_pairs(scored)
    result: Floats = pairs * u * (u - 1.0) / np.maximum(k * (k - 1.0), 1.0)
    return result
