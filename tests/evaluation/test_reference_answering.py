"""A reference is met by what an answer says to its question: rivals, denials, options, units, versions, scripts."""

from __future__ import annotations

import pytest

from data.questions import Question
from evaluation.language.normalise import fold
from evaluation.language.unspaced import unspaced_form
from evaluation.outcomes import outcome_of
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem

# question, reference, answer; S: supported, H: hallucinated
CASES = [
    ("How cold?", "-10 °C", "-10 C", "S"),
    ("How cold?", "-10 °C", "14 °F", "S"),
    ("How warm?", "100 °F", "37.8 °C", "S"),
    ("How warm?", "100 °F", "100 °C", "H"),
    ("What does it cost?", "€2.5 million", "2.500.000 €", "S"),
    ("What does it cost?", "2.499,99 €", "2,499.99 euros", "S"),
    ("What does it cost?", "2.499,99 €", "€2,500", "H"),
    ("What does it cost?", "₹5 crore", "50 million rupees", "S"),
    ("What does it cost?", "¥3000", "3,000 yen", "S"),
    ("How big?", "512 MB", "0.5 GB", "S"),
    ("How big?", "1.5 TB", "1500 GB", "S"),
    ("How big?", "4 GB", "4 MB", "H"),
    ("How far?", "10 miles", "16 km", "S"),
    ("How far?", "10 miles", "16.1 kilometres", "S"),
    ("How far?", "10 miles", "10 km", "H"),
    ("How heavy?", "70 kg", "154 lbs", "S"),
    ("How heavy?", "70 kg", "154 kg", "H"),
    ("Which version?", "1.20", "version 1.20", "S"),
    ("Which version?", "1.20", "1.2", "H"),
    ("Which version?", "v3.4.1", "v3.4.10", "H"),
    ("Which release?", "v3.4.1", "It was fixed in 3.4.1.", "S"),
    ("Which version?", "v2.0", "not v2.0 but v3.0", "H"),
    ("Which IP?", "192.168.0.10", "192.168.0.1", "H"),
    ("Which address?", "192.168.0.1", "The router uses 192.168.0.1.", "S"),
    ("What share?", "25%", "a quarter", "S"),
    ("What share?", "25 %", "0.25", "S"),
    ("What share?", "25 %", "0.2", "H"),
    ("When was it signed?", "28.11.2026", "28 November 2026", "S"),
    ("When was it signed?", "28.11.2026", "November 28, 2026", "S"),
    ("When was it signed?", "28.11.2026", "27.11.2026", "H"),
    ("When does it open?", "9:00", "9 a.m.", "S"),
    ("When does it open?", "21:00", "9 pm", "S"),
    ("When does it open?", "21:00", "9 am", "H"),
    ("Is it allowed?", "no", "It isn't.", "S"),
    ("Is it allowed?", "no", "It is.", "H"),
    ("Are dogs allowed?", "yes", "They are.", "S"),
    ("Does it float?", "yes", "It does not.", "H"),
    ("Is it allowed?", "false", "No", "S"),
    ("Which of these applies?", "C", "C.", "S"),
    ("Which of these applies?", "C", "Not C, but D", "H"),
    ("Which of these applies?", "None of these", "None", "S"),
    ("Who wrote it?", "Ada Byron", "Ada Byron, not Mary Smith", "S"),
    ("Who wrote it?", "Ada Byron", "Mary Smith, not Ada Byron", "H"),
    ("Who wrote it?", "Ada Byron", "It was Mary Smith. Ada Byron translated it.", "H"),
    ("Who wrote it?", "Ada Byron", "Mary Smith wrote it, while Ada Byron translated it.", "H"),
    ("Who wrote it?", "Ada Byron", "Ada Byron or Mary Smith", "H"),
    ("Which city?", "St. Gallen", "Saint Gallen", "S"),
    ("Which city?", "St. John's", "St John's", "S"),
    ("Which organisation?", "World Health Organization", "WHO", "S"),
    ("Which organisation?", "NATO", "North Atlantic Treaty Organization", "S"),
    ("Which organisation?", "World Health Organization", "UNO", "H"),
    ("Which country?", "United Arab Emirates", "the U.A.E.", "S"),
    ("多少钱？", "三百元", "价格是300元。", "S"),
    ("多少钱？", "三百元", "价格是200元。", "H"),
    ("几点开门？", "上午九点", "不是上午九点", "H"),
    ("期間は？", "三ヶ月", "期間は3か月です。", "S"),
    ("期間は？", "三ヶ月", "4か月です。", "H"),
    ("首都は？", "東京", "東京ではなく大阪です。", "H"),
    ("ราคาเท่าไร", "๓๐๐ บาท", "ราคา 300 บาท", "S"),
    ("얼마나?", "두 시간", "2시간입니다.", "S"),
    ("كم؟", "ثلاث سنوات", "المدة ثلاث سنوات", "S"),
    ("कितने साल?", "तीन साल", "वारंटी तीन साल की है।", "S"),
    ("कितने साल?", "३ साल", "3 साल", "S"),
    ("Wie lange?", "drei Jahre", "3 Jahre", "S"),
    ("Combien?", "douze euros", "12 euros", "S"),
    ("Which code?", "XR-12", "XR12", "S"),
    ("Which code?", "XR-12", "XR-13", "H"),
    ("How many?", "about 1,000", "1000", "S"),
    ("Which colours?", "blue and green", "green, blue", "S"),
    ("Which colours?", "blue and green", "green, blue and red", "H"),
    ("Which colours?", "blue and green", "* green\n* blue", "S"),
    ("In which year was the mill built?", "1820", "The mill was built in 1820 and burned down in 1850.", "S"),
    ("In which year was the mill built?", "1820", "The mill was built in 1850 and burned down in 1820.", "H"),
    ("In which year was the mill built?", "1820", "It was built in 1850. No wait, 1820.", "H"),
    ("How long does the battery last?", "21 days", "The answer is 2. The battery lasts 21 days.", "H"),
    ("How long does the battery last?", "21 days", "The battery lasts 21 days and takes 3 hours to charge.", "S"),
    (
        "How long does the battery last?",
        "21 days",
        "The battery lasts 14 days, although the old one lasted 21 days.",
        "H",
    ),
    ("Which is longer, the Po or the Elbe?", "the Elbe", "The Elbe is longer than the Po.", "S"),
    ("Which is longer, the Po or the Elbe?", "the Elbe", "The Po is longer than the Elbe.", "H"),
    ("Which is longer, the Po or the Elbe?", "the Elbe", "The Po is shorter than the Elbe.", "S"),
    ("Which is longer, the Po or the Elbe?", "the Elbe", "The Elbe", "S"),
    ("Which is heavier, gold or lead?", "gold", "Gold is heavier than lead.", "S"),
    ("Which is heavier, gold or lead?", "gold", "Lead is heavier. Gold is used in rings.", "H"),
    ("Where is the office?", "Leith", "The office is in Leith [1, 2].", "S"),
    ("Where is the office?", "Leith", "The office is in Leith【4†source】", "S"),
    ("Where is the office?", "Leith", "The office moved from Leith to Marn.", "H"),
    ("What is the formula?", "a^2 + b^2", "$a^2+b^2$", "S"),
    ("What is the limit?", "10 MB", "\\(10\\) MB", "S"),
    ("How many kilograms?", "21.5 kilograms", "21,5 kg", "S"),
    ("How many?", "12", "a dozen", "S"),
    ("How many?", "12", "120", "H"),
    ("Which command?", "git pull --rebase", "git pull", "H"),
    ("Which command?", "git pull --rebase", "`git pull --rebase`", "S"),
    ("Which section?", "§ 4(2)", "§ 4(2)", "S"),
    ("Which section?", "§ 4(2)", "§ 4(3)", "H"),
    ("What temperature?", "350 degrees Fahrenheit", "350°F", "S"),
    ("How long is the notice period?", "4 weeks", "one month", "H"),
    ("How long is the notice period?", "2-3 weeks", "2 to 3 weeks", "S"),
    ("How long is the notice period?", "2-3 weeks", "2 weeks", "H"),
    ("How many?", "1500", "1.5 thousand", "S"),
    ("How many?", "1500", "1.5k", "S"),
    ("How many?", "7", "seven", "S"),
    ("How fast?", "100 km/h", "62 mph", "S"),
    ("When?", "1980s", "1985", "H"),
    ("Who?", "Dr. Jane Roe", "Jane Roe", "S"),
    ("Was it late?", "yes", "Yes, by an hour.", "S"),
]


def outcome(text: str, reference: str, answer: str) -> str:
    question = Question("q", text, references=(reference,))
    verifier = ReferenceVerifier()
    extracted = verifier.extract(question, answer)
    (verdicts,) = verifier.verify([VerificationItem(question, extracted.claims, answer)])
    return outcome_of(verdicts, extracted.refused, extracted.reason).outcome


@pytest.mark.parametrize(("question", "reference", "answer", "expected"), CASES)
def test_outcome(question: str, reference: str, answer: str, expected: str) -> None:
    assert outcome(question, reference, answer) == {"S": "supported", "H": "hallucinated"}[expected]


def test_the_first_value_is_not_saved_by_a_second_one() -> None:
    question = "In which year was the mill rebuilt?"
    assert outcome(question, "1850", "The mill was rebuilt in 1820; some guides wrongly say 1850.") == "hallucinated"


def test_an_option_of_the_question_is_chosen_by_the_first_sentence() -> None:
    question = "Which has the deeper cellar, the Marn mill or the Leith mill?"
    answer = "The Marn mill has the deeper cellar. The Leith mill has a loft."
    assert outcome(question, "Leith mill", answer) == "hallucinated"
    assert outcome(question, "Marn mill", answer) == "supported"


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("1.234,5 kg", "1234.5 kg"),
        ("12,5 %", "12.5 %"),
        ("1'250.00", "1250.00"),
        ("2.500.000", "2500000"),
        ("10.0.0.1", "10.0.0.1"),
        ("1,250", "1,250"),
        ("rooms 1,2,3", "rooms 1,2,3"),
        ("٣ سنوات", "3 سنوات"),
    ],
)
def test_numbers_of_other_countries(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("三百五十", "350"),
        ("二〇二一年", "2021年"),
        ("一万二千", "12000"),
        ("六週間", "6周"),
        ("1.5万", "15000"),
        ("두 시간", "2小时"),
    ],
)
def test_numbers_in_chinese_characters(text: str, form: str) -> None:
    assert unspaced_form(text) == form


@pytest.mark.drill
def test_a_very_long_answer_is_judged_in_linear_time() -> None:
    assert outcome("Where is the mill?", "Marn", "The mill has a wheel. " * 2_000) == "hallucinated"
