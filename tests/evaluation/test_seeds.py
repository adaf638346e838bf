"""Seeds depend on their parts and on nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.runs.seeds import derive_seed

Parts = tuple[int, str, str, str, int]
parts = st.tuples(st.integers(0, 2**63 - 1), st.text(), st.text(), st.text(), st.integers(0, 1000))


@given(parts)
def test_range_and_repeatable(given_parts: Parts) -> None:
    seed = derive_seed(*given_parts)
    assert 0 <= seed < 2**63
    assert seed == derive_seed(*given_parts)


@given(parts, parts)
def test_different_parts_differ(a: Parts, b: Parts) -> None:
    # False alarm: a collision of 63-bit hashes, below 1e-13 for the whole test.
    assert (derive_seed(*a) == derive_seed(*b)) == (a == b)


def test_boundaries_between_parts_count() -> None:
    assert derive_seed(1, "ab", "c", "d", 0) != derive_seed(1, "a", "bc", "d", 0)
    assert derive_seed(1, "a", "", "b", 0) != derive_seed(1, "", "a", "b", 0)


def test_pinned() -> None:
    """Stored runs are resumed with these: a change of the derivation must be noticed."""
    assert derive_seed(0, "q", "rag", "t=0.7", 0) == 1147830099701023935
