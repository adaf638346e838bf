"""Evidence windows: complete sentences, exact offsets, nothing lost, linear in the text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError
from evaluation.evidence.windows import evidence_windows

TEXT = "The kiln is fired at dawn. It cools for two days. Nobody opens it early. The glaze would crack."


def words(texts: Sequence[str]) -> list[int]:
    return [len(t.split()) for t in texts]


def letters(texts: Sequence[str]) -> list[int]:
    """Count the non-space characters of each text.

    Like a tokenizer's counts, those of the parts add up to that of the text.
    """
    return [len("".join(t.split())) for t in texts]


def test_a_text_that_fits_is_one_window() -> None:
    (window,) = evidence_windows(TEXT, 100, words)
    assert (window.text, window.start, window.end) == (TEXT, 0, len(TEXT))


def test_windows_hold_whole_sentences_and_overlap_by_one() -> None:
    found = [w.text for w in evidence_windows(TEXT, 11, words)]
    assert found == [
        "The kiln is fired at dawn. It cools for two days.",
        "It cools for two days. Nobody opens it early.",
        "Nobody opens it early. The glaze would crack.",
    ]
    assert [w.text for w in evidence_windows(TEXT, 11, words, overlap_sentences=0)] == [found[0], found[2]]


def test_a_sentence_longer_than_the_room_is_cut_between_words() -> None:
    found = evidence_windows("one two three four five six seven", 3, words, overlap_sentences=0)
    assert [w.text for w in found] == ["one two three", "four five six", "seven"]


@pytest.mark.parametrize("text", ["", " ", "\n\t \n"])
def test_no_text_gives_no_window(text: str) -> None:
    assert evidence_windows(text, 5, words) == ()


@pytest.mark.parametrize(("room", "overlap"), [(0, 1), (-3, 1), (5, -1)])
def test_impossible_sizes_are_refused(room: int, overlap: int) -> None:
    with pytest.raises(EvaluationError, match=f"windows of {room} tokens"):
        evidence_windows(TEXT, room, words, overlap)


@given(st.text(alphabet="aB1 .?!\n\r\t\x00\u200b\u00e9\U0001f600", max_size=120), st.integers(1, 30), st.integers(0, 2))
def test_offsets_hold_and_nothing_is_lost(text: str, room: int, overlap: int) -> None:
    found = evidence_windows(text, room, letters, overlap)
    covered = set()
    for w in found:
        assert text[w.start : w.end] == w.text
        assert letters([w.text])[0] <= room
        covered |= set(range(w.start, w.end))
    assert all(c.isspace() for i, c in enumerate(text) if i not in covered)
    assert [w.start for w in found] == sorted({w.start for w in found})


@pytest.mark.parametrize("characters", [50_000, pytest.param(500_000, marks=pytest.mark.drill)])
@pytest.mark.parametrize("unit", ["word ", "A sentence of six words stands here. ", "x", "\n", "a.b;"])
def test_a_long_text_is_cut_in_linear_time(unit: str, characters: int) -> None:
    # Quadratic work on half a million characters would take longer than the test permits.
    text = unit * (characters // len(unit))
    sizes: list[int] = []

    def count(texts: Sequence[str]) -> list[int]:
        sizes.append(sum(map(len, texts)))
        return [len(t) // 5 + 1 for t in texts]

    found = evidence_windows(text, 300, count)
    assert sum(sizes) <= 20 * len(text)  # counted a bounded number of times
    assert sum(w.end - w.start for w in found) <= 3 * len(text)
    assert all(text[w.start : w.end] == w.text for w in found)
