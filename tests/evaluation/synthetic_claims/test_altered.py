"""Evidence altered by rule: its effect on each claim is certain, and uncertain alterations are skipped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from data.pairs import PairExample
from data.ragtruth import load_ragtruth
from evaluation.synthetic_claims.altered.alteration import ValueSwap
from evaluation.synthetic_claims.altered.answers import altered_answers
from evaluation.synthetic_claims.altered.records import alter_record
from evaluation.synthetic_claims.altered.removal import remove_sentence
from evaluation.synthetic_claims.altered.values import exchange_values, replace_value
from evaluation.synthetic_claims.response_claims import response_claims
from evaluation.training_examples.answer_rows import by_answer

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "natural_answers"
NEWS = (
    "The bridge of Osk was closed on Monday after a barge struck it. The mayor, Ada Thorne, said that repairs would "
    "cost 340,000 crowns. Engineers had warned of the piers in 1987. The barge was steered by Ole Berg, a pilot from "
    "Marrow. The council had put repairs off in 1994. Ferries carry people across until the summer. Nobody was hurt."
)
RECORD = (
    '{"name": "Quay Cafe", "hours": {"Monday": "9:0-17:30", "Sunday": "10:0-17:30"}, "attributes": {"OutdoorSeating": '
    'true, "HasTV": false, "WiFi": null}, "review_info": [{"review_text": "Fine soup."}]}'
)


def answer(evidence: str, *claims: str, wrong: str = "", question: str = "") -> list[PairExample]:
    """Return supported claims, except those that contain ``wrong``."""
    out = []
    for claim in claims:
        bad = bool(wrong) and wrong in claim
        at = claim.find(wrong)
        spans = ((at, at + len(wrong)),) if bad else None
        out.append(PairExample(evidence, claim, not bad, question, "s", "g", spans, "1"))
    return out


def marked(example: PairExample) -> list[str]:
    return [example.claim[start:end] for start, end in example.wrong or ()]


def test_values_are_exchanged_all_at_once_as_whole_words() -> None:
    exchange = ValueSwap({"1987": "1994", "1994": "1987", "Ole": "Wilhelmina"})
    text = "In 1987 Ole saw 19870 oles, and in 1994 Ole-Olsen."
    assert exchange.applied(text) == "In 1994 Wilhelmina saw 19870 oles, and in 1987 Ole-Olsen."
    assert [text[start:end] for start, end in exchange.spans_in(text)] == ["1987", "Ole", "1994"]
    words = ("In", "1987", "Ole saw", "oles", "1994")
    spans = tuple((text.find(word), text.find(word) + len(word)) for word in words)
    new = exchange.applied(text)
    assert [new[start:end] for start, end in exchange.moved(text, spans)] == [
        "In",
        "1994",
        "Wilhelmina saw",
        "oles",
        "1987",
    ]


def test_numbers_within_larger_ones_dates_and_times_are_no_values() -> None:
    exchange = ValueSwap({"17": "40"})
    text = "17:30, 1.17, 17%, $17, 17-18, 2017 and 17.5 stay, 17, 17 and 17. do not"
    assert exchange.applied(text) == text.replace("stay, 17, 17 and 17.", "stay, 40, 40 and 40.")


def test_two_values_said_of_different_things_are_swapped() -> None:
    claims = answer(NEWS, "Engineers warned in 1987.", "Berg, who steered it, is from Marrow.", "Nobody was hurt.")
    pairs = set()
    for seed in range(20):
        exchange = exchange_values(claims, Random(seed))
        assert exchange is not None
        one, other = exchange.values
        assert exchange.values == {one: other, other: one}
        assert any(one in e.claim or other in e.claim for e in claims)
        assert not any(one in part and other in part for part in NEWS.split(". "))
        pairs.add(frozenset((one, other)))
    years = {pair for pair in pairs if any(value.isdigit() for value in pair)}
    assert years == {frozenset(("1987", "1994"))}  # a number takes the place of a number of its kind
    assert len(pairs) > 2  # names are swapped too


def test_nothing_is_swapped_that_may_be_said_of_the_same() -> None:
    together = "Ada Thorne and the pilot Ole Berg left the town. They were seen later."
    assert exchange_values(answer(together, "They saw Thorne and Berg."), Random(1)) is None
    once = answer("It opened in 1987. It shut in 1994.", "It was open from 1987 to 1994.")
    assert exchange_values(once, Random(1)) is None
    answered = answer("It opened in 1987. It shut in 1994.", "It opened in 1987.", question="What of 1987?")
    assert all(exchange_values(answered, Random(seed)) is None for seed in range(5))


def test_a_claim_that_was_wrong_by_a_value_keeps_it_from_being_exchanged() -> None:
    """The claim says 1994 of an event in 1987. With both years exchanged it would be true."""
    claims = answer("They warned in 1987. It shut in 1994.", "They warned in 1994.", "It shut then.", wrong="1994")
    assert all(exchange_values(claims, Random(seed)) is None for seed in range(5))


@pytest.mark.parametrize("seed", range(30))
def test_a_new_value_is_one_that_neither_side_has(seed: int) -> None:
    claims = answer(NEWS, "Repairs cost 340,000 crowns, said Ada Thorne.", "It was on Monday.")
    exchange = replace_value(claims, ["Ivo", "Thorne"], Random(seed))
    assert exchange is not None
    ((old, new),) = exchange.values.items()
    expected = " ".join(e.claim for e in claims)
    assert old in NEWS and old in expected and new not in NEWS + expected
    assert old not in exchange.applied(NEWS).split()


def test_the_sentence_a_claim_rests_on_is_taken_out() -> None:
    claims = answer(NEWS, "The barge was steered by the pilot Ole Berg.", "Ferries carry people until the summer.")
    found = [remove_sentence(claims, Random(seed)) for seed in range(20)]
    assert {f.claims for f in found if f} == {(None, ()), ((), None)}
    for one in found:
        assert one is not None
        gone = "steered" if one.claims[0] is None else "Ferries"
        assert gone not in one.evidence and len(one.evidence) > len(NEWS) - 90 and ".  " not in one.evidence


def test_no_sentence_is_taken_out_where_it_is_not_sure_what_that_does() -> None:
    twice = NEWS + " The pilot Ole Berg steered the barge."
    assert remove_sentence(answer(twice, "The barge was steered by the pilot Ole Berg."), Random(1)) is None
    partly = answer(NEWS, "The barge that struck it was steered by a pilot, and the mayor said what it cost.")
    assert remove_sentence(partly, Random(1)) is None
    assert remove_sentence(answer(NEWS, "Berg steered."), Random(1)) is None  # too few words to decide
    assert remove_sentence(answer(RECORD, "The cafe is called Quay Cafe."), Random(1)) is None


def test_an_attribute_of_a_record_is_turned_round() -> None:
    claims = answer(RECORD, "Guests find outdoor seats there.", "It has fine soup.")
    found = alter_record(claims, Random(0))
    assert found is not None and '"OutdoorSeating": false' in found.evidence
    assert [[e.claim[a:b] for a, b in spans or ()] for e, spans in zip(claims, found.claims, strict=True)] == [
        ["outdoor", "seats"],
        [],
    ]
    assert alter_record(answer(RECORD, "It has fine soup.", "There is no wifi."), Random(0)) is None  # null stays
    reviewed = RECORD.replace("Fine soup", "Outdoor seating is fine")
    assert alter_record(answer(reviewed, "It has outdoor seating."), Random(0)) is None
    already = answer(RECORD, "It has outdoor seating and outdoor heaters.", "Outdoor seating is new.", wrong="new")
    assert alter_record(already, Random(0)) is None
    assert alter_record(answer(NEWS, "It has outdoor seating."), Random(0)) is None


@pytest.mark.parametrize(
    ("key", "claim", "wrong"),
    [
        ("RestaurantsTakeOut", "Takeout is offered.", ["Takeout"]),
        ("RestaurantsTakeOut", "There is take-out on Sundays.", ["take-out"]),
        ("RestaurantsTakeOut", "It takes cards and has an outdoor stove.", []),
        ("street", "Parking is on the street.", ["street"]),
        ("street", "It stands in Clement Street.", []),
        ("lot", "Guests park in its lot.", ["lot"]),
        ("lot", "It has a lot of regulars.", []),
        ("live", "Live music is played on Fridays.", ["Live"]),
        ("live", "Its owners live above the shop.", []),
        ("HasTV", "There is a TV.", ["TV"]),
    ],
)
def test_only_claims_that_speak_of_an_attribute_are_touched(key: str, claim: str, wrong: list[str]) -> None:
    found = alter_record(answer(f'{{"name": "Quay", "attributes": {{"{key}": true}}}}', claim), Random(0))
    assert ([claim[start:end] for start, end in found.claims[0] or ()] if found else []) == wrong


@pytest.mark.parametrize("expected", ["9 AM", "9:00 a.m.", "9 am", "9:00", "9 A.M."])
def test_a_time_of_a_record_is_moved(expected: str) -> None:
    claims = answer(RECORD, f"On Mondays it opens at {expected}, and closes early.")
    found = alter_record(claims, Random(0))
    assert found is not None and '"9:0-' not in found.evidence and "17:30" in found.evidence
    ((start, end),) = found.claims[0] or ()
    assert claims[0].claim[start:end].rstrip(".") == expected.rstrip(".")


def test_answers_are_altered_alike_in_any_order_and_by_their_share() -> None:
    sources = [
        replace(e, evidence=f"{NEWS} Line {n}.", group=str(n))
        for n in range(30)
        for e in answer(NEWS, "Engineers warned in 1987.", "The barge was steered by the pilot Ole Berg.")
    ]
    answers = by_answer(sources)[1]
    every = altered_answers(answers, 1.0, 0)
    assert len(every) == 30
    assert altered_answers(answers[::-1], 1.0, 0) == every[::-1]
    some = altered_answers(answers, 0.5, 0)
    assert 5 < len(some) < 25  # all but 3 in 10,000 draws
    assert all(one in every for one in some)
    assert altered_answers(answers, 0.0, 0) == []
    assert altered_answers(answers, 1.0, 1) != every
    # Some claims were changed along with their evidence and stay true.
    agreeing = [one for one in every if all(e.supported for e in one)]
    assert 0 < len(agreeing) < 30
    assert all({e.claim for e in one} - {e.claim for e in sources} for one in agreeing)


@pytest.mark.drill
def test_of_the_answers_that_come_with_plumbline_no_false_claim_becomes_true() -> None:
    """Most answers have a claim that becomes false. Labels and marks stay if claims are changed with their evidence."""
    responses = load_ragtruth(SAMPLES, split="train").responses[:80]
    answers = by_answer(list(response_claims(responses, "n")))[1]
    before = {(a[0].group, a[0].answer): a for a in answers}
    made = altered_answers(answers, 1.0, 0)
    assert len(made) > 0.7 * len(answers)
    turned = 0
    for new in made:
        old = before[new[0].group, new[0].answer]
        assert len(new) == len(old) and new[0].evidence != old[0].evidence
        assert all(e.evidence == new[0].evidence and e.question == new[0].question for e in new)
        for one, other in zip(old, new, strict=True):
            assert one.supported or not other.supported
            turned += one.supported and not other.supported
            if one.claim != other.claim:
                assert one.supported == other.supported
                assert len(marked(one)) == len(marked(other))
            assert all(0 <= start < end <= len(other.claim) for start, end in other.wrong or ())
    assert turned > 0.6 * len(made)
