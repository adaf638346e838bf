from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import fuse_min_max, fuse_reciprocal_rank, min_max
from retrieval.hits import Hit, best_hits

DENSE = (Hit(3, 0.9), Hit(1, 0.5), Hit(2, 0.4))
SPARSE = (Hit(1, 12.0), Hit(4, 2.0))


def test_reciprocal_rank_by_hand() -> None:
    fused = fuse_reciprocal_rank((DENSE, SPARSE))
    assert [hit.position for hit in fused] == [1, 3, 4, 2]
    assert [hit.score for hit in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63])


def test_min_max_by_hand() -> None:
    fused = fuse_min_max((DENSE, SPARSE), (0.5, 0.5))
    assert [hit.position for hit in fused] == [1, 3, 2, 4]  # 2 and 4 tie at 0
    assert [hit.score for hit in fused] == pytest.approx([0.5 * 0.2 + 0.5, 0.5, 0.0, 0.0])
    assert [hit.position for hit in fuse_min_max((DENSE, SPARSE), (3, 1))][:2] == [3, 1]


def test_equal_scores_normalise_to_one_and_an_empty_run_adds_nothing() -> None:
    assert min_max((2.0, 2.0)) == (1.0, 1.0)
    assert min_max(()) == ()
    assert fuse_min_max((DENSE, ()), (0.5, 0.5))[0] == Hit(3, 0.5)
    assert fuse_reciprocal_rank(((), ())) == ()


@pytest.mark.parametrize("weights", [(1.0,), (0.0, 0.0), (-1.0, 2.0)])
def test_bad_weights_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="weights"):
        fuse_min_max((DENSE, SPARSE), weights)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 50))
def test_best_hits_equals_a_full_sort(scores: list[int], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    hits = best_hits(np.asarray(scores, dtype=np.float64), np.arange(len(scores)), k)
    assert [hit.position for hit in hits] == expected
