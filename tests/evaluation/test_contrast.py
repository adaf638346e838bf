"""The rules detect exchanged parts, negations, opposites, bounds and quantifiers, and accept paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from evaluation.contrast.contrast import contrast
from evaluation.contrast.restated import restated
from evaluation.verifiers.contrast_scorer import CONTRASTED, RESTATED, ContrastScorer
from evaluation.verifiers.layered_scorer import WrappingScorer, without_reader
from model.pairs.scoring import Pair

# evidence, claim, whether the claim has another meaning
PAIRS = [
    ("Harlow Foods bought Tenby Mills in 2019.", "Tenby Mills was bought by Harlow Foods in 2019.", False),
    ("Harlow Foods bought Tenby Mills in 2019.", "Tenby Mills was bought by Harlow Foods.", False),
    ("Harlow Foods bought Tenby Mills in 2019.", "Harlow Foods was bought by Tenby Mills.", True),
    ("Harlow Foods bought Tenby Mills in 2019.", "In 2019, Harlow Foods bought Tenby Mills.", False),
    ("Harlow Foods bought Tenby Mills from Odo.", "Odo sold Tenby Mills to Harlow Foods.", False),
    ("Harlow Foods bought Tenby Mills from Odo.", "Harlow Foods sold Tenby Mills to Odo.", True),
    ("Copper is cheaper than silver.", "Silver is dearer than copper.", False),
    ("Copper is cheaper than silver.", "Copper is dearer than silver.", True),
    ("The north gate is wider than the south gate.", "The south gate is narrower than the north gate.", False),
    ("Adults pay 12 euros and children 7 euros.", "Children pay 7 euros and adults 12 euros.", False),
    ("The valve opens at 3 bar and closes at 5 bar.", "The valve closes at 5 bar and opens at 3 bar.", False),
    ("Close valve A before opening valve B.", "Open valve B after closing valve A.", False),
    ("Close valve A before opening valve B.", "Before opening valve B, close valve A.", False),
    ("Close valve A before opening valve B.", "Open valve B before closing valve A.", True),
    ("The shop is not open on Sundays.", "The shop is closed on Sundays.", False),
    ("The shop is open on Sundays.", "The shop is closed on Sundays.", True),
    ("The shop is open on Sundays.", "The shop isn't closed on Sundays.", False),
    ("All members voted for the plan.", "Some members voted for the plan.", False),
    ("Some members voted for the plan.", "All members voted for the plan.", True),
    ("Members may vote on the plan.", "Only members may vote on the plan.", True),
    ("Only members may vote on the plan.", "Members may vote on the plan.", False),
    ("The mill closed because the river flooded.", "The river flooded because the mill closed.", True),
    ("The mill closed because the river flooded.", "Because the river flooded, the mill closed.", False),
    ("The capital of Norway is Oslo.", "Oslo is the capital of Norway.", False),
    ("The train leaves Marn at 8 and reaches Leith at 9.", "The train leaves Leith at 8 and reaches Marn at 9.", True),
    ("The train leaves Marn at 8 and reaches Leith at 9.", "The train reaches Leith at 9 and leaves Marn at 8.", False),
    ("The museum, which is not open on Mondays, sells tickets online.", "The museum sells tickets online.", False),
    ("The manager praised the clerk.", "The clerk praised the manager.", True),
    ("The manager praised the clerk.", "The clerk was praised by the manager.", False),
    ("The manager praised the clerk.", "The manager was praised by the clerk.", True),
    ("The fee includes breakfast.", "Breakfast is included in the fee.", False),
    ("The lake lies north of the village.", "The village lies north of the lake.", True),
    ("The lake lies north of the village.", "The lake lies south of the village.", True),
    ("The offer is valid until 30 June.", "The offer is valid till 30 June.", False),
    ("The plan was rejected by the council.", "The council rejected the plan.", False),
    ("The plan was rejected by the council.", "The council accepted the plan.", True),
    ("The juice contains at most 5 grams of sugar.", "The juice contains no more than 5 grams of sugar.", False),
    ("Marn has 300 residents and Leith has 200.", "Leith has 300 residents and Marn has 200.", True),
    ("Ann teaches Bob the violin.", "Bob teaches Ann the violin.", True),
    ("Ann lent Bob 20 euros.", "Bob borrowed 20 euros from Ann.", False),
    ("Ann lent Bob 20 euros.", "Ann borrowed 20 euros from Bob.", True),
    ("Sales rose from 4 to 6 million.", "Sales rose from 6 to 4 million.", True),
    ("The lamp must be switched off before cleaning.", "The lamp must be switched on before cleaning.", True),
    ("You may bring a dog.", "You must bring a dog.", True),
    ("The tank holds 40 litres and weighs 7 kg.", "The tank weighs 40 kg and holds 7 litres.", True),
    ("The shop is sold in Norway, Sweden and Denmark.", "The shop is sold in Denmark, Sweden and Norway.", False),
    ("Visitors without a ticket cannot enter the hall.", "Visitors without a ticket can enter the hall.", True),
    ("The hall cannot be entered without a ticket.", "The hall can be entered with a ticket.", False),
    ("The bridge was not finished until 1990.", "The bridge was finished in 1990.", False),
    ("Batteries are excluded from the warranty.", "Batteries are not included in the warranty.", False),
    ("Batteries are excluded from the warranty.", "The warranty does not cover batteries.", False),
    ("The warranty covers the screen but not the battery.", "The warranty does not cover the battery.", False),
    ("The warranty covers the screen but not the battery.", "The warranty covers the battery.", True),
    ("The warranty covers the screen but not the battery.", "The warranty covers the screen.", False),
    ("The warranty covers the screen but not the battery.", "The warranty does not cover the screen.", True),
]


@pytest.mark.parametrize(("evidence", "claim", "differs"), PAIRS)
def test_contrast(evidence: str, claim: str, differs: bool) -> None:
    assert bool(contrast(claim, evidence)) is differs


def test_a_denial_is_borne_out_by_the_sentence_that_speaks_of_the_same() -> None:
    evidence = "Cats are not allowed in the barn. Dogs are allowed in the yard."
    assert contrast("Dogs are not allowed in the yard.", evidence)
    assert not contrast("Cats are not allowed in the barn.", evidence)
    assert not contrast("Dogs are allowed in the yard.", evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The lamp weighs 7 kg.", "The red lamp of the mill weighs 7 kg and costs 90 euros."),
        ("It opened in May 1820.", "The mill opened on 4 May 1820 in Marn."),
        ("The mill closed.", "The mill closed after the flood."),
    ],
)
def test_restated(claim: str, evidence: str) -> None:
    assert restated(claim, evidence) is (claim != "The lamp weighs 7 kg.")


def test_a_limit_that_is_kept_is_borne_out_and_another_is_not() -> None:
    evidence = "The tank holds for three weeks at 40 degrees."
    assert restated("The tank holds for at least two weeks.", evidence)
    assert not restated("The tank holds for at least four weeks.", evidence)
    assert not restated("The tank holds for two weeks.", evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The mayor owns the mill.", "The father of the mayor owns the mill."),
        ("The firm bought the mill.", "The firm bought shares of the mill."),
        ("The mill closed.", "If the river floods, the mill closed."),
        ("The mill sold the barn.", "The mill owner sold the barn."),
        ("All guests left the hall.", "Guests left the hall."),
        ("The plan failed.", "The plan almost failed."),
        ("The mill burned the barn.", "The barn burned the mill."),
    ],
)
def test_words_that_lost_their_parts_are_not_restated(claim: str, evidence: str) -> None:
    assert not restated(claim, evidence)


class Constant:
    """A scorer that gives every pair the same score."""

    name = "constant"

    def __init__(self, score: float) -> None:
        self._score = score

    def room(self, claim: str, question: str = "") -> int:
        return 100

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(t.split()) for t in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return (self._score,) * len(pairs)


def test_the_scorer_caps_lifts_and_leaves_alone() -> None:
    pairs = [
        Pair("Silver is cheaper than tin.", "Tin is cheaper than silver."),
        Pair("Tin is cheaper than silver.", "Tin is cheaper than silver."),
        Pair("Odo repaired the wheel in spring.", "Tin is cheaper than silver."),
    ]
    assert ContrastScorer(Constant(0.9)).score(pairs) == (CONTRASTED, RESTATED, 0.9)
    assert ContrastScorer(Constant(0.01)).score(pairs) == (0.01, RESTATED, 0.01)


def test_what_is_no_number_stays_none() -> None:
    (score,) = ContrastScorer(Constant(float("nan"))).score([Pair("Tin is cheap.", "Tin is cheap.")])
    assert score != score


def test_what_reads_no_short_answers_has_the_rules_too() -> None:
    inner = Constant(0.5)

    class Front(WrappingScorer):
        name = "front"

        def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
            return inner.score(pairs)

    scorer = ContrastScorer(Front(inner))
    assert without_reader(scorer).name == "constant+rules:1"
    assert without_reader(ContrastScorer(inner)).name == "constant+rules:1"
