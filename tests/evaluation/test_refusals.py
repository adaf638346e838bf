"""Refusals of any generator are recognised, and real answers are not taken for refusals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.declining.refusals import is_refusal

REFUSALS = [
    "The documents do not answer this.",
    "The documents do not answer this. [1]",
    "I don't know.",
    "I do not know",
    "I don’t know.",
    "I don't know when Norvik was founded.",
    "Sorry, I don't know.",
    "I'm sorry, but I don't know.",
    "I am sorry. I do not have enough information to answer.",
    "The documents do not say.",
    "The passages don't mention this.",
    "The provided context does not contain the answer.",
    "The context does not provide any information about the price.",
    "Based on the passages, I cannot determine the answer.",
    "Based on the given documents, it is not possible to answer.",
    "Not mentioned in the passages.",
    "not mentioned",
    "It is not stated in the documents.",
    "The price is not mentioned in the passages.",
    "The name of the director is not specified.",
    "The weight is not given in the documents.",
    "This cannot be determined.",
    "It cannot be determined from the context.",
    "The weight of the logger cannot be determined from the passages.",
    "Cannot be determined",
    "Unable to answer.",
    "I cannot answer this question.",
    "I am unable to find the answer in the documents.",
    "No answer.",
    "no answer",
    "There is no answer in the passages.",
    "Unknown.",
    "unknown",
    "The answer is unknown.",
    "It is unclear.",
    "N/A",
    "There is no information about this.",
    "There is no mention of a password in the documents.",
    "No information is available.",
    "Not enough information.",
    "Insufficient information to answer.",
    "I have no idea.",
    "No idea",
    "I'm not sure.",
    "I am not sure about that.",
    "I don't have access to that information.",
    "None of the documents mention it.",
    "None of the passages answer this question.",
    "Nothing in the passages says so.",
    "Unfortunately, the documents do not mention the price.",
    "Unfortunately the text does not specify this.",
    "I could not find any information on this.",
    "As an AI, I do not know.",
    "Unanswerable",
    "It is impossible to say.",
    "I don't know. Please provide more context.",
    "I don't know, sorry.",
    "I do not know the name, address or phone number of the firm.",
    "I cannot answer this, as it is not mentioned in the passages.",
    "The documents do not say, so I cannot answer.",
    "I don't know, but I can help with something else.",
    "The retrieved passages do not contain this information.",
    "This information is not available in the documents.",
    "The information is not provided.",
    "Not specified.",
    "The question cannot be answered from the given context.",
    "I don't know whether it was Paris or London.",
    "The documents don't say who founded it.",
    "No document mentions the price.",
    "IDK",
    "The text does not say.",
    "The documents do not include the current password.",
    "Not available.",
    "Neither document mentions this.",
    "Not known.",
    "The passage doesn't say anything about it.",
    "The documents provided do not mention the weight of the logger.",
    "I was unable to find this in the documents.",
    "We do not know.",
    "I don't know the answer to that question.",
    "The article does not state the exact date.",
    "The sources are silent on this.",
    "I can't say.",
    "I wasn't able to find this in the documents.",
    "I could not find any mention of the founder.",
    "I couldn't find that.",
    "I'm afraid I don't know.",
    "I am afraid that the documents do not say.",
    "Regrettably, the sources do not specify it.",
    "As far as I can tell, the documents do not mention this.",
    "To my knowledge, this is not stated.",
    "I see no mention of a lamp in the passages.",
    "I found no information on the founder.",
    "I have no record of that.",
    "I don't see any information about the price.",
    "The documents make no mention of the founder.",
    "The provided context gives no information on this.",
    "The passage lacks the necessary information.",
    "It does not say.",
    "It doesn't mention who built it.",
    "They do not specify when.",
    "There is nothing about the founder in the documents.",
    "Nothing is said about the price in the passages.",
    "Information not available.",
    "Answer not found in the documents.",
    "The answer is not in the provided documents.",
    "The answer isn't in the context.",
    "Not in the documents.",
    "Not part of the given context.",
    "Sorry, but I am unable to answer that from the context.",
]
ANSWERS = [
    "Unknown Pleasures",
    "The Unknown Soldier",
    "No. 5",
    "Chanel No. 5",
    "I don't know about X, but it was Paris.",
    "I don't know, maybe Paris.",
    "I don't know, Paris",
    "I'm not sure, but I think it was Paris.",
    "I am not sure. Paris.",
    "Paris. I'm not sure.",
    "No",
    "No, it is not allowed.",
    "No smoking",
    "none",
    "Nobody",
    "Breakfast is not included.",
    "Breakfast is not provided",
    "The policy does not cover cosmetic damage.",
    "The contract does not include breakfast.",
    "It is not allowed.",
    "The documents must be kept for six years.",
    "The documents do not need a signature.",
    "The documents do not say; it is Paris.",
    "The documents do not say. However, it was built in 1999.",
    "The documents do not mention the price, but the list gives 40 pounds.",
    "Anna Lindqvist",
    "Not Paris",
    "It was not Paris.",
    "Information desk",
    "Context",
    "No Country for Old Men",
    "The No Name",
    "Unclear Skies Ltd",
    "Unknown to most, it was Anna.",
    "Answer: Paris",
    "The answer is Paris.",
    "The answer is 42, according to the documents.",
    "Sorry by Justin Bieber",
    "Sorry",
    "40 pounds",
    "Insufficient funds",
    "No information security officer was appointed until 2019.",
    "Not before 9 am",
    "Not more than 14 days",
    "The information is kept for six years.",
    "The documents are stored in Leith.",
    "They did not find the buoy.",
    "Anna did not know the password.",
    "The guest could not be reached.",
    "The valve cannot be opened by hand.",
    "It can't be opened.",
    "I Don't Know How to Love Him",
    "No Answer by the Electric Light Orchestra",
    "The buoy was not found.",
    "Visitors are not given a badge.",
    "It is probably unknown to Anna, who works in Leith",
    "The article does not contain plastic.",
    "He is unknown as a painter.",
    "The law makes no mention of dogs.",
    "The contract gives no notice period.",
    "The passage lacks a roof.",
    "It does not say Norvik on the plate.",
    "They do not answer the telephone on Sundays.",
    "There is nothing older than the mill in Marn.",
    "No record of Odo was kept before 1820.",
    "Data not available to the public were sold.",
    "I'm afraid of heights, said Odo.",
    "I found no lamp, and Odo found two.",
    "Not in Marn, but in Leith",
    "Not part of Marn until 1820",
    "The answer is in the documents: 40 pounds.",
    "He could not find the lamp.",
    "To my knowledge, it was Paris.",
    "As far as I can tell, it was built in 1820.",
    "Honestly, Paris.",
    "The documents make no profit.",
    "The text gives no name but Odo's.",
    "Nothing is said about it in Marn.",
    "",
    ".",
    "...",
    "[1]",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusal(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", REFUSALS)
def test_refusal_in_other_dress(text: str) -> None:
    assert is_refusal(f"  {text.upper()} [2]\n")
    assert is_refusal(text.lower())


@pytest.mark.parametrize("text", ANSWERS)
def test_answer(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize("text", [r for r in REFUSALS if "[" not in r])
@pytest.mark.parametrize("answer", ["It was Paris.", "Paris", "40 pounds"])
def test_refusal_beside_an_answer_is_an_answer(text: str, answer: str) -> None:
    assert not is_refusal(f"{text.rstrip('.')}. {answer}")
    assert not is_refusal(f"{answer.rstrip('.')}. {text}")


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text(text: str) -> None:
    assert is_refusal(text) in (True, False)


def test_long_text() -> None:
    assert not is_refusal("the documents " * 3000)
    assert not is_refusal("a" * 50_000)
