"""Records are read as sentences, and every span of the text maps back to the original."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from evaluation.evidence.rendering import read_evidence

RECORD = json.dumps(
    {"name": "Odo's Mill", "hours": {"Monday": "8:0-17:30", "Sunday": "9:0-12:0"}, "grinds": ["rye", "oats"]}, indent=1
)


def test_prose_is_read_as_it_stands() -> None:
    text = "The mill grinds rye. Its wheel was cut from larch."
    reading = read_evidence(text)
    assert reading.text == text
    assert (reading.source_span(4, 8).start, reading.source_span(4, 8).end) == (4, 8)


def test_each_sentence_of_a_record_leads_back_to_its_own_field() -> None:
    reading = read_evidence(RECORD)
    assert "hours on Sunday: 9:00 to 12:00" in reading.text
    for word, field in (("Sunday", '"Sunday": "9:0-12:0"'), ("rye", '"grinds"'), ("name", '"name": "Odo')):
        start = reading.text.index(word)
        span = reading.source_span(start, start + len(word))
        assert field in RECORD[span.start : span.end]
        assert "Monday" not in RECORD[span.start : span.end]


def test_a_stretch_over_two_sentences_leads_back_to_both() -> None:
    reading = read_evidence(RECORD)
    span = reading.source_span(reading.text.index("Monday"), reading.text.index("Sunday") + 3)
    assert "Monday" in RECORD[span.start : span.end] and "Sunday" in RECORD[span.start : span.end]


@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(["a: b", "c d: 7", "\n", "|x|y|", "|-|-|", "{", "}", '"k": ', '"v"', ",", "[", "]"])
        ).map("".join),
    ),
    st.integers(0, 80),
    st.integers(1, 80),
)
def test_every_stretch_leads_into_the_original(text: str, start: int, length: int) -> None:
    reading = read_evidence(text)
    if start >= len(reading.text):
        return
    span = reading.source_span(start, min(start + length, len(reading.text)))
    assert 0 <= span.start < span.end <= len(text)
