"""The reference verifier on a table of answers, each with the verdict a careful person would give."""

from __future__ import annotations

import pytest

from evaluation.verifiers.reference_verifier import F1_THRESHOLD
from tests.evaluation.reference_helpers import judge

# (answer, reference, question; "" stands for ASKED)
SUPPORTED = [
    ("10 a.m. on Wednesday", "Wednesday at 10:00", "When is the handover?"),
    ("10:00, Wednesdays", "Wednesday at 10:00", ""),
    ("10:00", "Wednesday at 10:00", "At what time on Wednesdays is the handover?"),
    ("Wed 10:00", "Wednesday at 10:00", ""),
    ("9:00 to 17:00", "Monday to Friday, 9:00 to 17:00", "What are the opening hours on weekdays?"),
    ("9:00 to 17:00 on weekdays", "Monday to Friday, 9:00 to 17:00", "When is it open?"),
    ("4 March 2021", "Thursday, 4 March 2021", ""),
    ("Paris", "Paris", ""),
    ("It is Paris.", "Paris", ""),
    ("paris", "Paris", ""),
    ("The Paris", "Paris", ""),
    ("São Paulo", "Sao Paulo", ""),
    ("fourteen", "14", ""),
    ("14", "fourteen", ""),
    ("14 days", "fourteen days", ""),
    ("It takes 14 days.", "14 days", ""),
    ("two weeks", "14 days", ""),
    ("1,200", "1200", ""),
    ("twelve hundred", "1,200", ""),
    ("1.5 million", "1500000", ""),
    ("£1.5m", "1.5 million pounds", ""),
    ("3rd", "third", ""),
    ("the third floor", "3rd floor", ""),
    ("40%", "40 per cent", ""),
    ("forty percent", "40%", ""),
    ("£40", "40 pounds", ""),
    ("4 March 2021", "March 4, 2021", ""),
    ("2021-03-04", "4 March 2021", ""),
    ("4th of March 2021", "March 4, 2021", ""),
    ("On 4 March 2021, the office opened.", "2021-03-04", ""),
    ("4 March 2021", "March 2021", ""),
    ("2021", "4 March 2021", "In what year was it founded?"),
    ("It was in 1999", "1999", ""),
    ("4 March 1999", "1999", "When?"),
    ("4 March 2021", "March", "In which month?"),
    ("Not London, Paris.", "Paris", ""),
    ("It was not London but Paris.", "Paris", ""),
    ("Paris, not London", "Paris", ""),
    ("No, it was Paris.", "Paris", ""),
    ("There is no doubt that it was Paris.", "Paris", ""),
    ("Paris, France", "Paris", ""),
    ("The answer is Paris, and it opened in 1990.", "Paris", ""),
    ("It was built in Paris and opened in 1990.", "Paris", ""),
    ("10 to 20", "10-20", ""),
    ("between 10 and 20", "10 to 20", ""),
    ("up to 14 days", "14 days", ""),
    ("no more than 14 days", "at most 14 days", ""),
    ("not more than 14 days", "14 days", ""),
    ("red, blue and green", "green, red and blue", ""),
    ("The colours are red, blue and green.", "red, blue, green", ""),
    ("red, blue and green, which are changed yearly", "red, blue and green", ""),
    ("Yes, it is.", "yes", ""),
    ("It is allowed.", "yes", "Is smoking allowed?"),
    ("It is not allowed.", "No", "Is smoking allowed?"),
    ("Harbour Street", "the Harbour Street depot", "Which depot in Leith is it?"),
    ("Anna K Lindqvist", "Anna Lindqvist", ""),
    ("it is not allowed", "not allowed", ""),
    ("Kestrel", "Kestrel", ""),
    ("the Kestrel 40 pump", "Kestrel 40", ""),
    ("AB200", "AB-200", ""),
    ("-5 °C", "minus 5 degrees Celsius", ""),
    ("-5 °C", "-5 °C", ""),
    ("9:30 pm", "21:30", ""),
    ("9.30 am", "09:30", ""),
    ("noon", "12:00", ""),
    ("half an hour", "30 minutes", ""),
    ("90 minutes", "1.5 hours", ""),
    ("one and a half hours", "90 minutes", ""),
    ("a dozen", "12", ""),
    ("two dozen eggs", "24 eggs", ""),
    ("twice a year", "two times a year", ""),
    ("14", "14 engineers", ""),
    ("Of the engineers, 14 resigned", "14 engineers", ""),
    ("There are 14 engineers on the team", "14", ""),
    ("Section 4", "4", "Which section?"),
    ("in 1999 [1]", "1999", ""),
    ("Paris [1][2].", "Paris", ""),
    ("C++", "C++", ""),
    ("one half", "50%", ""),
    ("½", "0.5", ""),
    ("2½ hours", "150 minutes", ""),
    ("£40 per night", "£40", ""),
    ("40k", "40,000", ""),
    ("3.5.1", "version 3.5.1", "Which version?"),
    ("the head of facilities and safety", "Head of Facilities and Safety", ""),
    ("0", "none", ""),
    ("None", "zero", ""),
    ("He resigned and left in 1999.", "1999", ""),
    ("It didn't open until 1999.", "1999", ""),
    ("100 kilometres", "100 km", ""),
    ("1000 g", "1 kg", ""),
    ("forty-one", "41 employees", ""),
    ("two hundred and twelve", "212", ""),
    ("nineteen ninety-nine", "1999", ""),
    ("14 working days", "14 days", ""),
    ("a year and a half", "a year and a half", ""),
]
CONTRADICTED = [
    ("3.5.2", "3.5.1", "Which version?"),
    ("Tuesday at 10:00", "Wednesday at 10:00", "When is the handover?"),
    ("14 weeks", "14 days", ""),
    ("15 days", "14 days", ""),
    ("$40", "40 pounds", ""),
    ("€40", "£40", ""),
    ("5 March 2021", "4 March 2021", ""),
    ("2020", "4 March 2021", "In what year was it founded?"),
    ("not Paris", "Paris", ""),
    ("It is not Paris.", "Paris", ""),
    ("It isn't in Paris.", "Paris", ""),
    ("It is not, as many think, Paris.", "Paris", ""),
    ("London rather than Paris", "Paris", ""),
    ("Paris is not the capital.", "Paris", ""),
    ("Never Paris", "Paris", ""),
    ("10 to 30 days", "10-20 days", ""),
    ("at least 14 days", "at most 14 days", ""),
    ("no", "yes", ""),
    ("It is not allowed.", "yes", "Is smoking allowed?"),
    ("allowed", "not allowed", ""),
    ("Kestrel 50", "Kestrel 40", ""),
    ("3.5", "35", ""),
    ("35", "3.5", ""),
    ("5 °C", "-5 °C", ""),
    ("9:30 pm", "09:30", ""),
    ("Section 4 of the act of 1999", "4", ""),
    ("£40 per week", "£40 per night", ""),
    ("Napoleon did not win", "Napoleon", ""),
    ("It is a myth that Paris is the capital", "Paris", ""),
    ("100 km", "100 miles", ""),
    ("100 kg", "100 g", ""),
    ("14 working days", "14 calendar days", ""),
]
UNVERIFIABLE = [
    ("10:00", "Wednesday at 10:00", "On which weekday is the handover?"),
    ("March 2021", "4 March 2021", ""),
    ("2021", "4 March 2021", "When was it founded?"),
    ("Paris or London", "Paris", ""),
    ("Paris or London or Rome", "Paris", ""),
    ("either Paris or Rome", "Paris", ""),
    ("Paris, London, Rome", "Paris", ""),
    ("Paris, London and Rome", "Paris", ""),
    ("Paris and London", "Paris", ""),
    ("Paris/London", "Paris", ""),
    ("London", "Paris", ""),
    ("14 or 15", "14", ""),
    ("14 or 15 days", "14 days", ""),
    ("10 to 20", "10", ""),
    ("more than 14 days", "14 days", ""),
    ("red and blue", "red, blue and green", ""),
    ("red, blue, green and black", "red, blue and green", ""),
    ("black, red, blue and green", "red, blue and green", ""),
    ("yes and no", "yes", ""),
    ("Street", "the Harbour Street depot", "Which depot in Leith is it?"),
    ("Anna", "Anna Lindqvist", ""),
    ("Karl Lindqvist", "Anna Lindqvist", ""),
    ("Kestrel 2", "Kestrel", ""),
    ("AB-200", "AB", ""),
    ("Elizabeth II", "Elizabeth", ""),
    ("14 customers", "14 engineers", ""),
    ("Section 4 of the act", "4", ""),
    ("1999 and 2001", "1999", ""),
    ("1999, 2000, 2001", "1999", ""),
    ("vitamin B", "vitamin A", ""),
    ("vitamin", "vitamin A", ""),
    ("C", "C++", ""),
    ("C#", "C", ""),
    ("It is C++", "C", ""),
    ("Head of Facilities and Finance", "Head of Facilities and Safety", ""),
]


@pytest.mark.parametrize(("answer", "reference", "question"), SUPPORTED)
def test_supported(answer: str, reference: str, question: str) -> None:
    verdict = judge(answer, reference, question=question)
    assert (verdict.label, verdict.reason) == ("supported", verdict.reason)
    assert verdict.support is not None
    assert verdict.support >= F1_THRESHOLD


@pytest.mark.parametrize(("answer", "reference", "question"), CONTRADICTED)
def test_contradicted(answer: str, reference: str, question: str) -> None:
    verdict = judge(answer, reference, question=question)
    assert (verdict.label, verdict.support) == ("contradicted", 0.0), verdict.reason


@pytest.mark.parametrize(("answer", "reference", "question"), UNVERIFIABLE)
def test_unverifiable(answer: str, reference: str, question: str) -> None:
    verdict = judge(answer, reference, question=question)
    assert verdict.label == "unverifiable", verdict.reason
    assert verdict.support is not None
    assert verdict.support <= 0.75


@pytest.mark.parametrize(
    ("answer", "references", "label"),
    [
        ("Michael Collins", ("Collins", "Michael Collins"), "supported"),
        ("Neil Armstrong, Buzz Aldrin and Michael Collins", ("Collins", "Michael Collins"), "unverifiable"),
        ("60 metres", ("60 metres", "60"), "supported"),
        ("60", ("60 metres", "60"), "supported"),
        ("60 feet", ("60 metres", "60"), "contradicted"),
        ("60 feet", ("60",), "supported"),
        ("60 metres or 60 feet", ("60 metres", "60"), "unverifiable"),
        ("cupboard 3", ("fume cupboard 2", "cupboard 2", "2"), "contradicted"),
        ("London", ("Paris", "London"), "supported"),
        ("15", ("14", "sixteen"), "contradicted"),
        ("Rome", ("Paris", "14"), "unverifiable"),
        ("yes", ("yes", "yes, within seven minutes"), "supported"),
        ("yes, within nine minutes", ("yes, within seven minutes",), "contradicted"),
        ("Jonas Wetherlam", ("yes", "Yes, he did"), "unverifiable"),
    ],
)
def test_any_reference_suffices(answer: str, references: tuple[str, ...], label: str) -> None:
    verdict = judge(answer, *references, question="Did Jonas Wetherlam see 2 of them?")
    assert verdict.label == label, verdict.reason
