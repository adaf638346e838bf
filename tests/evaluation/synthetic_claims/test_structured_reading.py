"""Structured evidence is read as sentences with offsets into the original text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.evidence.structured import MAX_CHARACTERS, as_sentences

RECORD = {
    "name": "Bob's Grill",
    "hours": {"Monday": "17:30-23:0", "Tuesday": None},
    "attributes": {"WiFi": "free", "BusinessParking": {"garage": False, "lot": True}, "HasTV": "True"},
    "reviews": [{"review_stars": 4.0, "review_text": "Good soup."}],
    "tags": ["late", "loud"],
}
SENTENCES = [
    "name: Bob's Grill.",
    "hours on Monday: 17:30 to 23:00 (5:30 PM to 11 PM).",
    "hours on Tuesday: not stated.",
    "WiFi: free.",
    "business parking garage: no.",
    "business parking lot: yes.",
    "has TV: yes.",
    "reviews 1 review stars 4.0: review text Good soup.",
    "tags: late, loud.",
]


def sentences_of(text: str) -> list[str] | None:
    reading = as_sentences(text)
    return None if reading is None else [sentence.text for sentence in reading.sentences]


@pytest.mark.parametrize("shown", [json.dumps(RECORD), json.dumps(RECORD, indent=2), repr(RECORD)])
def test_a_record_reads_the_same_in_every_dress(shown: str) -> None:
    assert sentences_of(shown) == SENTENCES


def test_sentences_point_at_their_place_in_the_original() -> None:
    text = json.dumps(RECORD)
    reading = as_sentences(text)
    assert reading is not None and reading.kind == "json"
    places = {sentence.text: text[sentence.start : sentence.end] for sentence in reading.sentences}
    assert places["WiFi: free."] == '"WiFi": "free"'
    assert places["hours on Tuesday: not stated."] == '"Tuesday": null'
    assert places["tags: late, loud."] == '"tags": ["late", "loud"]'


def test_a_long_value_is_one_sentence_for_each_of_its_own() -> None:
    review = "The soup was warm. " + "We waited for a very long time. " * 6
    text = json.dumps({"stars": 2, "review": review.strip()})
    reading = as_sentences(text)
    assert reading is not None
    assert reading.sentences[1].text == "review: The soup was warm."
    assert text[reading.sentences[1].start : reading.sentences[1].end] == "The soup was warm."
    assert len(reading.sentences) == 8


def test_broken_json_is_read_as_far_as_it_goes() -> None:
    assert sentences_of('{"a": {"b": true, "c": "x') == ["a b: yes.", "a c: x."]
    assert sentences_of('{"hours": {"Monday": "9:0-17:0"}, "city": "Arden') == [
        "hours on Monday: 9:00 to 17:00 (9 AM to 5 PM).",
        "city: Arden.",
    ]


def test_a_line_before_and_a_record_in_a_string() -> None:
    assert sentences_of('Data:\n{"BusinessParking": "{\'lot\': True}", "b": 2}') == [
        "Data:",
        "business parking lot: yes.",
        "b: 2.",
    ]


def test_lines_of_keys_and_values() -> None:
    assert sentences_of("Name: The Fork\nopen_late = True\nhours Sunday: 9:0-14:30\nFax:") == [
        "name: The Fork.",
        "open late: yes.",
        "hours on Sunday: 9:00 to 14:30 (9 AM to 2:30 PM).",
        "fax: not stated.",
    ]


def test_tables_read_a_row_a_sentence() -> None:
    expected = ["city Arden: population 1,200; founded 1850.", "city Calder: population 90; founded 1701."]
    assert (
        sentences_of(
            "| City | Population | Founded |\n|---|:---:|--|\n| Arden | 1,200 | 1850 |\n| Calder | 90 | 1701 |"
        )
        == expected
    )
    assert sentences_of('City,Population,Founded\nArden,"1,200",1850\nCalder,90,1701') == expected
    assert sentences_of("City\tPopulation\tFounded\nArden\t1,200\t1850\nCalder\t90\t1701") == expected


@pytest.mark.parametrize(
    "prose",
    [
        "",
        "The sets {1, 2} and [3] are small. Nothing else: nothing.",
        "She left at noon. He stayed.\n\nThey met again, later, in town.\nIt rained.",
        "Passage 1: "
        + "the mill stood by the river, and turned all day, " * 5
        + "\nPassage 2: "
        + "it was quiet there, " * 9,
        "[1, 2, 3]",
        "A note [see page 3] on method.",
    ],
)
def test_prose_is_left_alone(prose: str) -> None:
    assert as_sentences(prose) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 200_000,
        '{"a":' * 60_000,
        '{"a":' + '"\\"' * 60_000,
        "{" + "'a" * 100_000,
        '{"a": ' + '"x" ' * 60_000,
        " " * 300_000 + "|\n" + " " * 300_000 + "-",
        "k: " * 100_000,
        '"' * 200_000,
        "a:b\n" * 50_000,
    ],
)
def test_hostile_texts_neither_raise_nor_hang(hostile: str) -> None:
    reading = as_sentences(hostile)
    assert reading is None or len(reading.sentences) <= 20_000


def test_a_text_of_ten_megabytes_is_not_read() -> None:
    assert as_sentences('{"a": 1}' + " " * 10 * MAX_CHARACTERS) is None


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="{}[]\"'\\:,|\n ab1=-\t;u", max_size=80))
def test_any_text_gives_sentences_inside_it(text: str) -> None:
    reading = as_sentences(text)
    for sentence in reading.sentences if reading else ():
        assert 0 <= sentence.start < sentence.end <= len(text)
        assert sentence.text.strip()


KEYS = st.text(alphabet="abCD_", min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="abc d'\"\\é", max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, JSON, min_size=1, max_size=4))
def test_every_number_of_a_record_is_said(record: dict[str, object]) -> None:
    record["answer"] = 987654
    text = sentences_of(json.dumps(record, ensure_ascii=False))
    assert text is not None and any("987654" in sentence for sentence in text)
