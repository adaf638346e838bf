"""Rule-based contradictions: another value in an equal sentence, negations, exchanged parts.

Silence is no contradiction.
"""

from __future__ import annotations

import pytest

from app.judging.verification import with_contradiction
from evaluation.contrast.contradiction import contradiction
from evaluation.outcomes import Claim, Label, Verdict
from evaluation.verifiers.evidence import EvidenceText

OTHERWISE = [
    ("The entrance costs 12 pounds.", "The entrance costs 15 pounds.", "15"),
    ("The pool opens at 7:30.", "The pool opens at 6:15.", "6:15"),
    ("The weir was rebuilt in 1874.", "Gates are new. The weir was rebuilt in 1897.", "1897"),
    ("The deposit is three months of rent.", "The deposit is two months of rent.", "two"),
    ("The pump is 4 km away.", "The pump is 4 miles away.", "miles"),
    ("The lift does not stop at floor 3.", "The lift stops at floor 3.", "negated"),
]
SILENT = [
    ("The entrance costs 12 pounds.", "The late entrance costs 15 pounds."),  # it may be another entrance
    ("The pool opens at 7:30.", "The pool opens at 6:15 on Mondays and at 7:30 on Sundays."),
    ("The weir was rebuilt in 1874.", "The weir was rebuilt on 2 March 1874."),
    ("The pump is 4 km away.", "The pump is 4000 m away."),
    ("The path is about 9 km long.", "The path is 8 km long."),
    ("The hall seats at most 40 people.", "The hall seats 32 people."),
    ("The tower is 30 m high.", "The tower is 29.9 m high."),
    ("Ines lives in Porto.", "Ines lives in Braga."),  # names: no rule decides whether both can be true
    ("The entrance costs 12 pounds.", "Dogs are welcome."),
]


@pytest.mark.parametrize(("claim", "evidence", "expected"), OTHERWISE)
def test_what_contradicts_is_named(claim: str, evidence: str, expected: str) -> None:
    assert expected in contradiction(claim, evidence)


@pytest.mark.parametrize(("claim", "evidence"), SILENT)
def test_silence_and_agreement_are_no_contradiction(claim: str, evidence: str) -> None:
    assert contradiction(claim, evidence) == ""


@pytest.mark.parametrize("label", ["supported", "unverifiable", "unscored"])
def test_only_an_unverifiable_claim_becomes_contradicted(label: Label) -> None:
    claim = Claim("The pool opens at 7:30.", 0, 23)
    text = "Dogs are welcome. The pool opens at 6:15. Cats sleep."
    verdict = Verdict(claim, label, None if label == "unscored" else 0.2, "best of 1", (), "v")
    found = with_contradiction(verdict, [EvidenceText("pets.md", "Cats sleep.", 0), EvidenceText("pool.md", text, 100)])
    if label == "unverifiable":
        assert (found.label, found.support) == ("contradicted", 0.2)
        assert "6:15" in found.reason
        (place,) = found.evidence
        assert (place.document_id, place.text) == ("pool.md", "The pool opens at 6:15.")
        assert text[place.start - 100 : place.end - 100] == place.text
    else:
        assert found == verdict


def test_another_sentence_that_agrees_is_no_contradiction() -> None:
    claim = Claim("The pool opens at 7:30.", 0, 23)
    verdict = Verdict(claim, "unverifiable", 0.2, "best of 1", (), "v")
    texts = [EvidenceText("a", "The pool opens at 6:15.", 0), EvidenceText("b", "The pool opens at 7:30.", 0)]
    assert with_contradiction(verdict, texts) == verdict
