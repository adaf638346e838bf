from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.pairs.scoring import Pair
from model.verifier.answer_context import context_score, is_short
from model.verifier.files import SupportUse
from model.verifier.lexical_penalty import lexical_penalty

EVIDENCE = (
    "The kiln was built by Odo in 1901. It stands behind the mill. The mill grinds rye for the village.\n"
    "The boat carries nine sheep. Its mast was cut from larch by Ida."
)


@pytest.mark.parametrize(
    ("question", "answer", "share"),
    [
        ("Who built the kiln?", "Odo", 1),
        ("Who built the kiln?", "Ida", 0),
        ("Who cut the mast?", "Ida", 1),
        ("Who cut the mast of the boats?", "Ida", 1),  # the sentence before
        ("Who cut the mast of the kiln?", "Ida", 2 / 3),
        ("Who cut the mast?", "Ida Larsen", 1 / 2),  # half of the answer stands there
        ("Who cut the mast?", "Aune", 0),
        ("Has the boat got nine sheep?", "Yes", 3 / 4),
        ("Who?", "Ida", 1),
        ("", "Ida", 1),
    ],
)
def test_by_hand(question: str, answer: str, share: float) -> None:
    assert context_score(question, answer, EVIDENCE) == pytest.approx(share)


def test_what_is_short() -> None:
    assert is_short("") and is_short("one two three four five six seven eight.")
    assert not is_short("one two three four five six seven eight nine")


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=80))
def test_it_is_a_share(question: str, answer: str, evidence: str) -> None:
    assert 0.0 <= context_score(question, answer, evidence) <= 1.0


@pytest.mark.parametrize(
    ("text", "share", "short"),
    [
        ("a. " * 200_000, 0, False),
        ("word " * 200_000, 1, False),
        ("\n" * 500_000, 0, True),
        ("." * 500_000, 0, True),
        ("x" * 500_000, 0, True),
    ],
    ids=range(5),
)
def test_long_texts_come_to_an_end(text: str, share: float, short: bool) -> None:
    assert context_score("Which word?", "a word", text) == share
    assert is_short(text) == short


def test_lacks_add_up() -> None:
    use = SupportUse(number_lack=2.0, name_lack=1.0, question_lack=1.5)
    assert lexical_penalty(Pair(EVIDENCE, "It was built by Odo in 1901."), use) == 0
    assert lexical_penalty(Pair(EVIDENCE, "It was built by Aune in 1902."), use) == 3
    assert lexical_penalty(Pair(EVIDENCE, "It was built by Aune in 1902.", "", "Aune, 1902"), use) == 0
    assert lexical_penalty(Pair(EVIDENCE, "Ida", "Who cut the mast of the kiln?"), use) == pytest.approx(0.5)
    long = "It was Ida who cut it with her own two hands"
    assert lexical_penalty(Pair(EVIDENCE, long, "Who cut the mast of the kiln?"), use) == 0
    assert lexical_penalty(Pair(EVIDENCE, "Aune, 1902", "Who made it?"), SupportUse()) == 0
    words = SupportUse(word_lack=2.0)
    assert lexical_penalty(Pair(EVIDENCE, "The boats carried no sheep or goats."), words) == pytest.approx(0.5)  # goats
    assert lexical_penalty(Pair("Sheep.", "The sheep and the goats", "", "Sheep. Goats."), words) == 0
    assert lexical_penalty(Pair(EVIDENCE, "It is not that."), words) == 0
