"""Splits hold out complete articles, the same ones for every subset of rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import DataError
from data.reading_examples import ReadingExample
from data.splits import split_by_group


def example(source: str, title: str, n: int = 0) -> ReadingExample:
    return ReadingExample(f"Question {n}?", ("a",), "a context", title, True, source)


MANY = tuple(example("many", f"article {n}", k) for n in range(1000) for k in range(2))


def test_about_the_share_asked_for_in_whole_articles() -> None:
    split = split_by_group(MANY)
    assert len(split.train) + len(split.development) == 2000
    held_out = {e.group for e in split.development}
    assert not held_out & {e.group for e in split.train}
    # 1000 articles at 4 %: binomial, outside 15 to 70 in less than one draw of 100,000 (and the names are fixed).
    assert 15 < len(held_out) < 70
    assert len(split_by_group(MANY, percent=50).development) > 800
    assert split_by_group(MANY, percent=0).development == ()


@settings(deadline=None, max_examples=20)
@given(st.sets(st.integers(0, 999), min_size=60), st.randoms(use_true_random=False))
def test_a_subset_in_any_order_is_split_alike(chosen: set[int], random: st.randoms) -> None:  # type: ignore[valid-type]
    held_out = {e.group for e in split_by_group(MANY).development}
    some = [MANY[2 * n] for n in chosen]
    random.shuffle(some)  # type: ignore[attr-defined]
    split = split_by_group(some)
    assert {e.group for e in split.development} == held_out & {e.group for e in some}
    assert [e for e in some if e.group not in held_out] == list(split.train)


def test_a_source_of_few_articles_lends_every_sixth() -> None:
    few = tuple(example("few", f"article {n:02}", k) for n in range(13) for k in range(3))
    split = split_by_group((*MANY, *few))
    assert {e.title for e in split.development if e.source == "few"} == {"article 00", "article 06", "article 12"}
    assert len([e for e in split.development if e.source == "few"]) == 9


def test_a_single_article_is_trained_on() -> None:
    one = (example("one", "only", 0), example("one", "only", 1))
    split = split_by_group((*one, *MANY))
    assert [e for e in split.train if e.source == "one"] == list(one)
    assert split_by_group(()).train == ()


def test_sources_do_not_mix() -> None:
    same = tuple(example(source, f"article {n}") for source in ("a", "b") for n in range(12))
    split = split_by_group(same)
    assert {(e.source, e.title) for e in split.development if e.source == "a"}
    assert len([e for e in split.development if e.source == "a"]) == 2


def test_a_source_is_held_out_whole_by_name() -> None:
    one, few = (example("one", "only", 0),), tuple(example("few", f"article {n:02}") for n in range(13))
    split = split_by_group((*MANY, *one, *few), hold_out=("many", "one"))
    assert {e.source for e in split.train} == {"few"}
    assert {e for e in split.development if e.source == "many"} == set(MANY)
    assert one[0] in split.development
    # The other source is split as usual.
    assert {e for e in split.development if e.source == "few"} == set(split_by_group(few).development)
    with pytest.raises(DataError, match=r"lots.*few, many, one"):
        split_by_group((*MANY, *one, *few), hold_out=("many", "lots"))
