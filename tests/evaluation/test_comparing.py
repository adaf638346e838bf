"""Agreement of comparisons of two things does not depend on which is named first or which opposite word is used."""

from __future__ import annotations

import pytest

from evaluation.contrast.contrast import contrast
from evaluation.contrast.restated import restated


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Larch is cheaper than teak.", "Teak is dearer than larch."),
        ("Larch is less expensive than teak.", "Teak is pricier than larch."),
        ("The Ibis is heavier and dearer than the Tern.", "The Tern is lighter and cheaper than the Ibis."),
        ("The tram is slower but safer than the bus.", "The bus is faster but riskier than the tram."),
        ("The upper lock is deeper than the lower lock.", "The lower lock is shallower than the upper lock."),
    ],
)
def test_converse_comparisons_agree(claim: str, evidence: str) -> None:
    assert contrast(claim, evidence) == ""
    assert restated(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Teak is cheaper than larch.", "Teak is more expensive than larch."),
        ("The Ibis is heavier than the Tern but cheaper.", "The Ibis is lighter than the Tern but dearer."),
        ("The Ibis is heavier than the Tern but cheaper.", "The Ibis is heavier than the Tern but dearer."),
        ("The Ibis is heavier than the Tern, but cheaper.", "The Tern is cheaper than the Ibis, but it is lighter."),
        ("Tram rides are slower and safer than bus rides.", "Bus rides are faster and safer than tram rides."),
        (
            "The east gate is wider but lower than the west gate.",
            "The east gate is narrower but taller than the west gate.",
        ),
    ],
)
def test_a_comparison_that_is_turned_in_any_part_is_told(claim: str, evidence: str) -> None:
    assert contrast(claim, evidence)
    assert not restated(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Larch is cheaper than teak.", "Teak is harder than larch."),
        ("Larch is cheaper than oak.", "Larch is dearer than pine."),
        ("Larch is cheaper than teak.", "Teak is not cheaper than larch."),
    ],
)
def test_other_scales_other_things_and_denials_tell_nothing(claim: str, evidence: str) -> None:
    assert contrast(claim, evidence) == ""
