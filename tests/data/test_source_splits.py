"""Splits of pairs: sources are held out by name or prefix, and groups are never divided."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import DataError
from data.pairs import PairExample
from data.source_splits import split_pairs


def example(source: str, group: str, n: int = 0) -> PairExample:
    return PairExample("evidence", f"claim {n}", n % 2 == 0, "", source, f"{source}:{group}")


MANY = tuple(example(source, f"text {n}", k) for source in ("a", "b_one", "b_two") for n in range(300) for k in (0, 1))


def test_about_the_share_asked_for_in_whole_groups() -> None:
    split = split_pairs(MANY)
    assert split.unseen == ()
    assert len(split.train) + len(split.development) == len(MANY)
    held_out = {e.group for e in split.development}
    assert not held_out & {e.group for e in split.train}
    # 900 groups at 3 %: binomial, outside 8 to 55 in less than one draw of 100,000 (and the names are fixed).
    assert 8 < len(held_out) < 55
    assert split_pairs(MANY, percent=0).development == ()
    assert split_pairs(MANY, percent=100).train == ()


@settings(deadline=None, max_examples=20)
@given(st.sets(st.integers(0, len(MANY) - 1), min_size=1), st.integers(1, 60), st.randoms(use_true_random=False))
def test_a_group_is_never_split_whatever_stands_beside(chosen: set[int], percent: int, random: st.randoms) -> None:  # type: ignore[valid-type]
    held_out = {e.group for e in split_pairs(MANY, percent=percent).development}
    some = [MANY[n] for n in chosen]
    random.shuffle(some)  # type: ignore[attr-defined]
    split = split_pairs(some, percent=percent)
    assert list(split.development) == [e for e in some if e.group in held_out]
    assert list(split.train) == [e for e in some if e.group not in held_out]


def test_sources_are_held_out_by_name_and_by_beginning() -> None:
    by_name = split_pairs(MANY, ("b_one",))
    assert {e.source for e in by_name.unseen} == {"b_one"}
    assert len(by_name.unseen) == 600
    assert {e.source for e in by_name.train} == {e.source for e in by_name.development} == {"a", "b_two"}
    by_beginning = split_pairs(MANY, ("b_*",))
    assert {e.source for e in by_beginning.unseen} == {"b_one", "b_two"}
    assert {e.source for e in split_pairs(MANY, ("a", "b_*")).unseen} == {"a", "b_one", "b_two"}
    assert split_pairs(MANY, ("*",)).train == ()
    # The remaining sources are split as if nothing were held out.
    assert set(by_name.development) == {e for e in split_pairs(MANY).development if e.source != "b_one"}


@pytest.mark.parametrize("name", ["b", "c*", "", "A", "b_?ne"])
def test_a_name_that_no_source_has_is_an_error(name: str) -> None:
    with pytest.raises(DataError, match=r"a, b_one, b_two"):
        split_pairs(MANY, ("a", name))


def test_a_share_of_a_source_is_held_out_beside_development() -> None:
    full, split = split_pairs(MANY), split_pairs(MANY, ("b_one:17%",))
    assert split.development == full.development
    assert {e.source for e in split.unseen} == {"b_one"}
    held_out = {e.group for e in split.unseen}
    # 300 groups at 17 %: outside 25 to 80 in less than one draw of 10,000 (and the names are fixed).
    assert 25 < len(held_out) < 80
    assert not held_out & {e.group for e in (*split.train, *split.development)}
    assert [e for e in full.train if e.group not in held_out] == list(split.train)
    # A larger share contains the smaller one, and the larger of two shares is used.
    more = split_pairs(MANY, ("b_*:40%", "b_one:17%"))
    assert set(split.unseen) < set(more.unseen)
    assert {e.source for e in more.unseen} == {"b_one", "b_two"}
    assert split_pairs(MANY, ("b_one:17%", "b_one")).unseen == split_pairs(MANY, ("b_one",)).unseen
    everything = split_pairs(MANY, ("b_one:97%",))
    assert {e.source for e in everything.train} == {"a", "b_two"}
    assert everything.development == full.development


def test_a_source_whose_own_name_ends_like_a_share() -> None:
    odd = (example("a:5%", "text"), example("a", "text"))
    assert split_pairs(odd, ("a:5%",), percent=0).unseen == odd[:1]


@pytest.mark.parametrize("expected", ["a:0%", "a:98%", "a:100%", "a:1000%"])
def test_a_share_that_is_none(expected: str) -> None:
    with pytest.raises(DataError, match=r"a:\d+%"):
        split_pairs(MANY, (expected,))
