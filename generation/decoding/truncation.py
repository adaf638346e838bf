"""Truncate distributions with top-k, top-p and min-p.

There is one implementation for a single row on a CPU, where numpy's partial sorts are twenty times faster than torch's,
and one for a batch on a GPU. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from generation.decoding.params import SamplingParams

_UNIT = 2.0**62
_SMALL_K = 256  # up to this size topk's heap is faster than numpy's partition

Values = npt.NDArray[np.float64]


def truncate_row(values: Values, params: SamplingParams) -> None:
    """Set the probabilities (V,) that top-k, top-p and min-p exclude to 0, in place, without renormalising."""
    best = float(values.max())
    kept = _top_k(values, params.top_k) if params.top_k is not None and params.top_k < len(values) else None
    if params.top_p < 1:
        kept = _top_p(values, kept, params.top_p)
    if kept is not None:
        _keep(values, kept)
    if params.min_p > 0:
        values[values < params.min_p * best] = 0.0


def _top_k(values: Values, k: int) -> Values:
    """Return the k largest values, in any order."""
    if k <= _SMALL_K:
        return torch.from_numpy(values).topk(k, sorted=False).values.numpy()
    return np.partition(values, len(values) - k)[len(values) - k :]


def _top_p(values: Values, kept: Values | None, p: float) -> Values:
    """Return the nucleus of ``kept`` (of all values if None), descending. Only possible members are sorted."""
    if kept is not None:
        return _nucleus(-np.sort(-kept), p, float(_masses(kept).sum()))
    # All tokens below (1 - p) / V together have less than 1 - p, so the other tokens reach p.
    floor = (1 - p) / len(values) * (1 - 1e-6)
    nucleus = _nucleus(-np.sort(-values[values >= floor]), p, _UNIT)
    reached = float(_masses(nucleus).sum()) >= p * _UNIT
    return nucleus if reached else _nucleus(-np.sort(-values), p, _UNIT)


def _nucleus(ordered: Values, p: float, total: float) -> Values:
    """Return the first of the descending values whose mass reaches p of the total."""
    masses = _masses(ordered)
    before = masses.cumsum() - masses  # mass of the likelier tokens
    return ordered[: max(1, int(np.count_nonzero(before < p * total)))]


def _masses(values: Values) -> npt.NDArray[np.int64]:
    return (values * _UNIT).astype(np.int64)


def _keep(values: Values, kept: Values) -> None:
    """Set all values except ``kept`` to 0. If more tokens tie at its minimum than it contains, keep the lowest IDs."""
    least = kept.min()
    values[values < least] = 0.0
    equal = np.flatnonzero(values == least)
    values[equal[int(np.count_nonzero(kept == least)) :]] = 0.0


def truncate_batch(probabilities: Tensor, params: Sequence[SamplingParams]) -> Tensor:
    """Return the probabilities (B, V) with those that top-k, top-p and min-p exclude set to 0.

    params: sampling parameters of each row. No row depends on the other rows.
    """
    device, size = probabilities.device, probabilities.shape[-1]
    top_k = torch.tensor([[min(row.top_k or size, size)] for row in params], device=device)
    top_p = torch.tensor([[row.top_p] for row in params], dtype=torch.float64, device=device)
    min_p = torch.tensor([[row.min_p] for row in params], dtype=torch.float64, device=device)
    ordered = probabilities.sort(dim=-1, descending=True).values
    inside = torch.arange(size, device=device) < top_k
    masses = (ordered * _UNIT).long().masked_fill(~inside, 0)
    before = masses.cumsum(-1) - masses
    total = masses.sum(-1, keepdim=True)
    inside &= (before < top_p * total) | (top_p >= 1)
    inside[:, 0] = True
    least = ordered.gather(-1, inside.sum(-1, keepdim=True) - 1)
    allowed = (inside & (ordered == least)).sum(-1, keepdim=True)
    equal = probabilities == least
    keep = (probabilities > least) | (equal & (equal.cumsum(-1) <= allowed))
    keep &= probabilities >= min_p * ordered[:, :1]
    return probabilities.where(keep, 0.0)
