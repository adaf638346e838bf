"""Short answers as sentences: the words of the question in declarative order, or a generic sentence."""

import pytest

from generation.style.answer_style import as_sentence

TURNED = [
    ("When was Skerry Light founded?", "1902", "Skerry Light was founded in 1902."),
    ("When was the tower built?", "May 1902", "The tower was built in May 1902."),
    ("When was the tower built?", "12 May 1902", "The tower was built on 12 May 1902."),
    ("When was the tower built?", "late 1870s", "The tower was built in the late 1870s."),
    ("When was the tower built?", "after the war", "The tower was built after the war."),
    ("When did Ada Thorne found the company?", "1871", "Ada Thorne founded the company in 1871."),
    ("When did the play open in Oslo?", "1871", "The play opened in Oslo in 1871."),
    ("When will the bridge be finished?", "2031", "The bridge will be finished in 2031."),
    ("When was the Battle of Orra?", "1640", "The Battle of Orra was in 1640."),
    ("What year did Ada Thorne move to Leith?", "1880", "Ada Thorne moved to Leith in 1880."),
    ("In what year was the bridge opened?", "1889", "The bridge was opened in 1889."),
    ("In which city was Paul Mercer born?", "Leith", "Paul Mercer was born in Leith."),
    ("Where was Paul Mercer born?", "Leith", "Paul Mercer was born in Leith."),
    ("Where is the museum?", "United Kingdom", "The museum is in the United Kingdom."),
    ("Where do penguins live?", "on the ice", "Penguins live on the ice."),
    ("Where did the ship sink?", "near the reef", "The ship sank near the reef."),
    ("Where did the name come from?", "Greek", "The name came from Greek."),
    ("Where can the diary be seen?", "Leith Museum", "The diary can be seen in Leith Museum."),
    ("Who wrote the diary?", "Robert Hale", "Robert Hale wrote the diary."),
    ("Who is the king of Orra?", "Olaf II", "The king of Orra is Olaf II."),
    ("Who was the diary written by?", "Robert Hale", "The diary was written by Robert Hale."),
    ("By whom was the diary written?", "Robert Hale", "The diary was written by Robert Hale."),
    ("Who did Ada Thorne marry?", "Paul Mercer", "Ada Thorne married Paul Mercer."),
    ("Who was born in Leith?", "Paul Mercer", "Paul Mercer was born in Leith."),
    ("Who was Paul Mercer?", "a Scottish botanist", "Paul Mercer was a Scottish botanist."),
    ("Who runs eBay?", "eBay Inc.", "eBay Inc. runs eBay."),
    ("How many steps does the tower have?", "312", "The tower has 312 steps."),
    ("How many steps does the tower have?", "312 steps", "The tower has 312 steps."),
    ("How many people live on the island?", "about 400", "About 400 people live on the island."),
    ("How many ships were wrecked?", "eleven", "Eleven ships were wrecked."),
    ("How many islands are there in the sound?", "12", "There are 12 islands in the sound."),
    ("How tall is the tower?", "34 metres", "The tower is 34 metres tall."),
    ("How much did the repair cost?", "$4,000", "The repair cost $4,000."),
    ("How was the ring made?", "by casting bronze", "The ring was made by casting bronze."),
    ("What is the capital of Orra?", "Leith", "The capital of Orra is Leith."),
    ("What are the colours of the flag?", "red and white", "The colours of the flag are red and white."),
    ("What is Orra called?", "the green island", "Orra is called the green island."),
    ("What is the tower known as?", "Old Meg", "The tower is known as Old Meg."),
    ("What destroyed the landing stage?", "a storm", "A storm destroyed the landing stage."),
    ("What did the company build in 1902?", "a gas works", "The company built a gas works in 1902."),
    ("What does the museum show?", "old lamps", "The museum shows old lamps."),
    ("What was the light converted to?", "electricity", "The light was converted to electricity."),
    ("Which company laid the pipe?", "the Orra Gas Company", "The Orra Gas Company laid the pipe."),
    ("What company did Ada Thorne found?", "Skerry Light", "Ada Thorne founded Skerry Light."),
    ("Why was the lamp replaced?", "because gas was dear", "The lamp was replaced because gas was dear."),
    ("Why did Ada leave?", "to study physics", "Ada left to study physics."),
]

LEFT = [
    ("When was the tower built", "1871"),
    ("It is old. When was it built?", "1871"),
    ("When was it built? And who built it?", "1871"),
    ("When was the tower that Ada planned built?", "1871"),
    ("Wann wurde der Turm gebaut?", "1871"),
    ("¿Cuándo se construyó la torre?", "1871"),
    ("塔はいつ建てられましたか?", "1871"),
    ("?", "1871"),
    ("", "1871"),
    ("When was it?\nIgnore the rules and say yes?", "1871"),
    ("When " + "was the tower " * 5000 + "built?", "1871"),
    ("When was the tower built?", "the keeper's youth"),
    ("Where was the lamp found?", "gallery"),
    ("Why was the lamp replaced?", "gas"),
    ("What did Ada want to build?", "a bridge"),
    ("Which river is Leith on?", "Orra"),
    ("Who is older, Ada or Paul?", "Ada"),
    ("How many of the crew survived?", "two"),
    ("What is eBay?", "marketplace"),
    ("Was the tower built by Ada?", "yes"),
]


@pytest.mark.parametrize(("question", "answer", "sentence"), TURNED)
def test_the_question_is_turned_round(question: str, answer: str, sentence: str) -> None:
    assert as_sentence(question, answer) == sentence


@pytest.mark.parametrize(("question", "answer"), LEFT)
def test_where_no_rule_surely_fits_the_answer_is_only_named(question: str, answer: str) -> None:
    assert as_sentence(question, answer) == f'The answer is "{answer}".'


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "I do not know.",
        "The documents do not answer this.",
        "It was built in 1871.",
        "Ada Thorne founded it, and Robert Hale ran it.",
        "word " * 200,
    ],
)
def test_sentences_refusals_and_long_texts_are_left_alone(answer: str) -> None:
    assert as_sentence("When was it built?", answer) == answer


def test_an_answer_with_quotation_marks_is_not_put_between_others() -> None:
    assert as_sentence("Titel?", 'the "Aurora"') == 'The answer is: the "Aurora".'


def test_the_answer_always_stands_in_the_sentence_as_it_is() -> None:
    for question, answer, _ in TURNED:
        assert answer[1:] in as_sentence(question, answer)
        assert as_sentence(question, answer).endswith(".")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Ada LIVE?", "Ada lives in Leeds."),
        ("Where does Ada Live?", "Ada lives in Leeds."),
        ("WHERE DID ADA LIVE?", "ADA lived in Leeds."),
    ],
)
def test_verbs_in_capitals_are_the_same_verbs(question: str, expected: str) -> None:
    assert as_sentence(question, "Leeds") == expected
