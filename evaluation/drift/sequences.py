"""Responses as sequences of claims, and how many neighbouring ones are unsupported beyond what order alone gives."""

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
    """One response's claims in the order of the text: True unsupported, False supported, None unscored."""

    question_id: str
    unsupported: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class Sequences:
    """R responses to Q questions, padded to K claims. unsupported, scored: (R, K) of 0 and 1; question: (R,), from 0.

    length: (R,), claims made, scored or not.
    """

    question_ids: tuple[str, ...]
    question: Ints
    length: Ints
    unsupported: Floats
    scored: Floats

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.question_ids)

    def by_question(self, values: Floats) -> Floats:
        """Sums over a question's responses: (R, ...) -> (Q, ...)."""
        totals = np.zeros((self.questions, *values.shape[1:]))
        np.add.at(totals, self.question, values)
        return totals


def gather(responses: Sequence[ClaimSequence]) -> Sequences:
    """Put responses with at least one claim into arrays, questions in order of their ids.

    Raises EvaluationError when no response makes a claim.
    """
    made = [r for r in responses if r.unsupported]
    if not made:
        raise EvaluationError("no response makes a claim: there is no sequence to look at")
    ids = tuple(sorted({r.question_id for r in made}))
    place = {question: i for i, question in enumerate(ids)}
    longest = max(len(r.unsupported) for r in made)
    unsupported, scored = np.zeros((len(made), longest)), np.zeros((len(made), longest))
    for row, response in enumerate(made):
        for k, value in enumerate(response.unsupported):
            scored[row, k] = value is not None
            unsupported[row, k] = value is True
    return Sequences(
        ids,
        np.array([place[r.question_id] for r in made], dtype=np.intp),
        np.array([len(r.unsupported) for r in made], dtype=np.intp),
        unsupported,
        scored,
    )


def adjacent_pairs(unsupported: Floats) -> Floats:
    """How many neighbours are both unsupported: (..., K) -> (...). An unscored claim is no neighbour of anything."""
    result: Floats = (unsupported[..., 1:] * unsupported[..., :-1]).sum(axis=-1)
    return result


def expected_pairs(unsupported: Floats, scored: Floats) -> Floats:
    """Adjacent unsupported pairs if a response's scored claims stood in random order: (..., K), (..., K) -> (...).

    u (u - 1) / (K (K - 1)) for each of the J neighbouring scored places; with nothing unscored J = K - 1, and it is
    u (u - 1) / K (docs/architecture.md, rule 6). Counting the share of successes after a success instead would be
    biased downwards (Miller and Sanjurjo 2018).
    """
    u, k = unsupported.sum(axis=-1), scored.sum(axis=-1)
    places = adjacent_pairs(scored)
    result: Floats = places * u * (u - 1.0) / np.maximum(k * (k - 1.0), 1.0)
    return result
