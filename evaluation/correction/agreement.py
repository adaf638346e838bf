"""Joint decisions of several annotators, and their agreement beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, Literal, TypeVar

import numpy as np

from evaluation.detection.intervals import Draws
from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import NO_WIDTH

Item = TypeVar("Item", bound=Hashable)
How = Literal["one", "unanimous", "majority", "adjudicated", "tie"]
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa of two annotators or Krippendorff's alpha of all, with bootstrap limits over items.

    items: number of items labelled by both annotators (kappa), or by at least two (alpha).
    observed: share of items on which the annotators agree (for alpha: share of pairs of labels).
    value: None if undefined. lower, upper: limits; None if there are none. reason: why value or limits are missing or
    imprecise.
    """

    annotators: tuple[str, ...]
    items: int
    observed: float | None
    value: float | None
    lower: float | None
    upper: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Generic[Item]):
    """Joint decision of the annotators of an item.

    label: None exactly for a tie, which an adjudicator must settle. how: how the decision was reached. votes:
    (annotator, label).
    """

    item: Item
    label: str | None
    how: How
    votes: tuple[tuple[str, str], ...]


def adjudicate(
    labels: Mapping[str, Mapping[Item, str]], settled: Mapping[Item, str] | None = None
) -> tuple[Decision[Item], ...]:
    """Return one label per item: the adjudicator's if there is one, else that of more than half of its annotators.

    labels: labels of each annotator, by item. settled: labels of an adjudicator, by item. Items keep the order of their
    first mention. Raises EvaluationError for an adjudicated item without annotator labels.
    """
    items = list(dict.fromkeys(item for given in labels.values() for item in given))
    settled = settled or {}
    unknown = [item for item in settled if item not in set(items)]
    if unknown:
        raise EvaluationError(f"{unknown[0]!r} was adjudicated, but no annotator labelled it: check its ID")
    return tuple(_decide(item, labels, settled) for item in items)


def _decide(item: Item, labels: Mapping[str, Mapping[Item, str]], settled: Mapping[Item, str]) -> Decision[Item]:
    votes = tuple((name, given[item]) for name, given in labels.items() if item in given)
    if item in settled:
        return Decision(item, settled[item], "adjudicated", votes)
    counts = Counter(label for _, label in votes).most_common()
    if len(votes) == 1:
        return Decision(item, votes[0][1], "one", votes)
    if len(counts) == 1:
        return Decision(item, counts[0][0], "unanimous", votes)
    if 2 * counts[0][1] > len(votes):
        return Decision(item, counts[0][0], "majority", votes)
    return Decision(item, None, "tie", votes)


def cohen_kappa(table: Floats) -> Floats:
    """Return Cohen's kappa (p_o - p_e) / (1 - p_e) of tables of counts (Cohen 1960); NaN where p_e is 1.

    p_o: share on the diagonal. p_e: its expectation if the two label independently, each with their own shares. Shapes:
    (..., k, k) -> (...).
    """
    total = table.sum(axis=(-2, -1))
    safe = np.where(total > 0, total, 1.0)
    observed = np.trace(table, axis1=-2, axis2=-1) / safe
    expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / safe**2
    usable = (total > 0) & (expected < 1.0 - 1e-12)
    result: Floats = np.divide(
        observed - expected, 1.0 - expected, out=np.full_like(np.asarray(observed), np.nan), where=usable
    )
    return result


def krippendorff_alpha(counts: Floats, weights: Floats | None = None) -> Floats:
    """Return Krippendorff's nominal alpha with missing labels; NaN if only one label occurs.

    counts: counts of labels, (items, k); the result has shape (). With weights (B, items) it has shape (B,). alpha = 1
    - D_o / D_e (Krippendorff 2011, section C). Items with one label are left out. Item u with n_u labels adds n_uc
    (n_uk) / (n_u - 1) to the coincidence o_ck of different labels. With n_c = sum_k o_ck and n = sum_c n_c, alpha = 1 -
    (n - 1) sum_{c != k} o_ck / sum_{c != k} n_c n_k.
    """
    labels = counts.sum(axis=1)
    used = labels >= 2
    rows, m = counts[used], labels[used]
    disagreement = (m**2 - (rows**2).sum(axis=1)) / np.maximum(m - 1.0, 1.0)  # sum over c != k of n_uc n_uk / (n_u - 1)
    w = np.ones((1, len(rows))) if weights is None else weights[:, used]
    totals = w @ rows  # (B, k): n_c
    n = totals.sum(axis=1)
    expected = n**2 - (totals**2).sum(axis=1)
    top = (n - 1.0) * (w @ disagreement)
    result: Floats = 1.0 - np.divide(top, expected, out=np.full_like(top, np.nan), where=expected > 0)
    return result[0] if weights is None else result


def agreement(labels: Mapping[str, Mapping[Item, str]], seed: int = 0, replicates: int = 2000) -> tuple[Agreement, ...]:
    """Return Cohen's kappa of each pair of annotators, then Krippendorff's alpha of all.

    Empty for fewer than two annotators. Limits are percentiles over ``replicates`` resamples of the items (Efron 1979).
    """
    names = [name for name, given in labels.items() if given]
    if len(names) < 2:
        return ()
    kinds = sorted({label for given in labels.values() for label in given.values()})
    index_of = {kind: i for i, kind in enumerate(kinds)}
    pairs = [_kappa(one, two, labels, index_of, seed, replicates) for one, two in combinations(names, 2)]
    return (*pairs, _alpha(names, labels, index_of, seed, replicates))


def _kappa(
    one: str,
    two: str,
    labels: Mapping[str, Mapping[Item, str]],
    index_of: Mapping[str, int],
    seed: int,
    replicates: int,
) -> Agreement:
    both = [item for item in labels[one] if item in labels[two]]
    if not both:
        return Agreement((one, two), 0, None, None, None, None, "the two annotators have no labelled item in common")
    k = len(index_of)
    cells = np.zeros((len(both), k * k))
    for row, item in enumerate(both):
        cells[row, index_of[labels[one][item]] * k + index_of[labels[two][item]]] = 1.0
    value = float(cohen_kappa(cells.sum(axis=0).reshape(k, k)))
    observed = float(np.trace(cells.sum(axis=0).reshape(k, k)) / len(both))
    drawn = Draws(len(both), seed, replicates).over(lambda w: cohen_kappa((w @ cells).reshape(-1, k, k)), k * k)
    return _with_limits((one, two), len(both), observed, value, drawn)


def _alpha(
    names: Sequence[str],
    labels: Mapping[str, Mapping[Item, str]],
    index_of: Mapping[str, int],
    seed: int,
    replicates: int,
) -> Agreement:
    items = list(dict.fromkeys(item for name in names for item in labels[name]))
    counts = np.zeros((len(items), len(index_of)))
    for row, item in enumerate(items):
        for name in names:
            if item in labels[name]:
                counts[row, index_of[labels[name][item]]] += 1.0
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Agreement(tuple(names), 0, None, None, None, None, "no item has two labels")
    sizes = counts.sum(axis=1)
    observed = float((counts * (counts - 1.0)).sum() / (sizes * (sizes - 1.0)).sum())
    value = float(krippendorff_alpha(counts))
    drawn = Draws(len(counts), seed, replicates).over(lambda w: krippendorff_alpha(counts, w), counts.size)
    return _with_limits(tuple(names), len(counts), observed, value, drawn)


def _with_limits(names: tuple[str, ...], items: int, observed: float, value: float, drawn: Floats) -> Agreement:
    if not np.isfinite(value):
        reason = "only one label occurs, so agreement on other labels is unknown"
        return Agreement(names, items, observed, None, None, None, reason)
    finite = drawn[np.isfinite(drawn)]
    if items < 2 or finite.size < 2:
        return Agreement(names, items, observed, value, None, None, "too few items for limits")
    lower, upper = np.quantile(finite, [(1.0 - LEVEL) / 2.0, 1.0 - (1.0 - LEVEL) / 2.0])
    if max(float(upper), value) - min(float(lower), value) <= NO_WIDTH:
        return Agreement(
            names, items, observed, value, None, None, "all resamples give the same value, so there are no limits"
        )
    reason = f"only {items} items" if items < 10 else ""
    return Agreement(names, items, observed, value, min(float(lower), value), max(float(upper), value), reason)
