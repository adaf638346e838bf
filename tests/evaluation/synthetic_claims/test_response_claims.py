"""Training claims from responses with marked spans: split as in evaluation, wrong where marked, right elsewhere."""

from __future__ import annotations

from dataclasses import replace

from data.pairs import PairExample
from data.ragtruth import RagResponse
from evaluation.synthetic_claims.edit_location import by_sentence
from evaluation.synthetic_claims.response_claims import response_claims

EVIDENCE = "The ferry leaves Osk at nine and costs 4 crowns. Dogs travel free."


def response(text: str, *marked: str, evidence: str = EVIDENCE) -> RagResponse:
    spans = tuple((text.index(piece), text.index(piece) + len(piece)) for piece in marked)
    return RagResponse("r", "7", "qa", "m", evidence, "When does it leave?", text, bool(spans), spans, "train")


def claims(text: str, *marked: str) -> list[PairExample]:
    return list(response_claims([response(text, *marked)], "own"))


def test_a_sentence_is_wrong_where_a_span_is_in_it_and_right_elsewhere() -> None:
    one, two = claims("The ferry leaves at ten. Dogs need no ticket.", "ten")
    assert (one.supported, one.claim, one.wrong) == (False, "The ferry leaves at ten.", ((20, 23),))
    assert (two.supported, two.wrong) == (True, None)
    assert (two.evidence, two.question, two.source, two.group) == (EVIDENCE, "When does it leave?", "own:qa", "own:7")


def test_a_span_over_two_sentences_makes_both_wrong() -> None:
    one, two = claims("It costs 4 crowns. It is red. It is fast.", "crowns. It is red.")[:2]
    assert [e.claim[a:b] for e in (one, two) for a, b in e.wrong or ()] == ["crowns.", "It is red."]


def test_what_claims_nothing_is_not_learned_and_marks_of_punctuation_do_not_count() -> None:
    found = claims("Sure, here is what I found:\n- It leaves at nine.\n- Dogs travel free!\nI hope this helps!", "!")
    assert [(e.claim, e.supported) for e in found] == [("It leaves at nine.", True), ("Dogs travel free!", True)]
    assert claims("I cannot answer that from the passages.") == []
    assert list(response_claims([response("It is red.", evidence="  ")], "own")) == []


def test_spans_follow_a_claim_that_loses_its_emphasis_and_markers() -> None:
    (one,) = claims("It leaves **at ten** [1] and costs __nine__ crowns.", "**at ten**", "__nine__")
    assert one.claim == "It leaves at ten and costs nine crowns."
    assert [one.claim[a:b] for a, b in one.wrong or ()] == ["at ten", "nine"]
    text = "At nine | or at\tnine it leaves [4] **nine** times."
    spans = ((text.rindex("nine"), text.rindex("nine") + 4),)
    row = RagResponse("r", "7", "qa", "m", EVIDENCE, "", text, True, spans, "train")
    (last,) = response_claims([row], "own")
    assert last.claim == "At nine, or at nine it leaves nine times."
    assert (last.supported, last.wrong) == (False, None)  # another comma: positions are unknown
    text = text.replace(" |", "")
    (last,) = response_claims([replace(row, text=text, spans=((s := text.rindex("nine"), s + 4),))], "own")
    assert (last.claim, last.wrong) == ("At nine or at nine it leaves nine times.", ((29, 33),))


def test_equal_sentences_of_two_responses_are_learned_once() -> None:
    twice = [response("It leaves at nine. It is red.", "red"), response("It leaves at nine. It is old.", "old")]
    found = by_sentence(list(response_claims(twice, "own")))
    assert [(e.claim, e.supported) for e in found] == [
        ("It leaves at nine.", True),
        ("It is red.", False),
        ("It is old.", False),
    ]
