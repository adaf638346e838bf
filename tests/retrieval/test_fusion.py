from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.fusion import fuse_min_max, fuse_reciprocal_rank, fuse_z_score, min_max, reciprocal_rank, z_score
from retrieval.ranking.hits import Hit, Hits, best_hits

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
    assert min_max((2.0, 2.0)).tolist() == [1.0, 1.0]
    assert min_max(()).tolist() == []
    assert z_score((2.0, 2.0)).tolist() == [1.0, 1.0]
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


_RUNS = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.floats(-5, 5, width=32)), max_size=15, unique_by=lambda pair: pair[0]),
    min_size=1,
    max_size=3,
)


@given(_RUNS, st.lists(st.floats(0.125, 2, width=16), min_size=3, max_size=3))
def test_fusion_of_arrays_equals_sums_in_a_dictionary_to_the_bit(
    given_runs: list[list[tuple[int, float]]], given_weights: list[float]
) -> None:
    runs = [tuple(Hit(p, s) for p, s in sorted(run, key=lambda pair: -pair[1])) for run in given_runs]
    weights = given_weights[: len(runs)]
    ways = {
        fuse_min_max: lambda run: min_max([hit.score for hit in run]).tolist(),
        fuse_z_score: lambda run: z_score([hit.score for hit in run]).tolist(),
    }
    for fuse, normalised in ways.items():
        totals: dict[int, float] = {}
        for run, weight in zip(runs, weights, strict=True):
            for hit, value in zip(run, normalised(run), strict=True):
                totals[hit.position] = totals.get(hit.position, 0.0) + weight / sum(weights) * value
        assert fuse(runs, weights) == _ordered(totals)
        assert fuse([Hits.of(run) for run in runs], weights) == _ordered(totals)
    totals = {}
    for run, weight in zip(runs, weights, strict=True):
        for rank, hit in enumerate(run, start=1):
            totals[hit.position] = totals.get(hit.position, 0.0) + weight * reciprocal_rank(rank)
    assert fuse_reciprocal_rank(runs, weights=weights) == _ordered(totals)


def _ordered(totals: dict[int, float]) -> list[Hit]:
    return [Hit(p, s) for p, s in sorted(totals.items(), key=lambda item: (-item[1], item[0]))]


def test_hits_are_a_sequence_like_any_other() -> None:
    hits = Hits.of(DENSE)
    assert (len(hits), hits[0], hits[-1]) == (3, DENSE[0], DENSE[2])
    assert (tuple(hits), hits[1:], hash(hits)) == (DENSE, DENSE[1:], hash(DENSE))
    assert hits == DENSE and hits == list(DENSE) and Hits.of(hits) is hits
    assert hits not in (SPARSE, Hits.of(DENSE[:2]), Hits.of((*DENSE[:2], Hit(2, 0.5)))) and hits != 3
    with pytest.raises(IndexError):
        hits[3]
