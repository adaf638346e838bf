"""Calibration curves of held-out claims. Short answers have their own curve if there are enough of them."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from app.training.verifier.calibration import calibrated
from data.pairs import PairExample
from model.checkpoints.shipped import shipped_verifier
from model.pairs.scoring import Pair
from model.verifier.files import LoadedSupport, SupportUse, load_support
from model.verifier.scorer import SupportScorer

PASSAGE = "The lamp of Skerry is green. It stands {0} metres above the sea, and Ada Thorne lit it in 19{0}."


def claims(short: int) -> list[PairExample]:
    """Return 40 statements, every other one wrong, and ``short`` short answers, of which every third is right."""
    out = [
        PairExample(
            PASSAGE.format(n),
            f"The lamp of Skerry stands {n if n % 2 else n + 50} metres above the sea.",
            bool(n % 2),
            source="statements",
        )
        for n in range(10, 50)
    ]
    for n in range(short):
        right = n % 3 == 0
        answer = f"{n} metres" if right else "Ada Thorne"
        out.append(PairExample(PASSAGE.format(n), answer, right, "How high does it stand?", source="answers"))
    return out


@pytest.fixture(scope="module")
def loaded() -> LoadedSupport:
    """The shipped verifier, because an uninformative network has no curve."""
    return load_support(shipped_verifier())


def silent(text: str) -> None:
    pass


def test_short_answers_are_fitted_by_themselves(loaded: LoadedSupport) -> None:
    found = calibrated(loaded, SupportUse(60), claims(96), [], notify=silent)
    assert found.alone is not None and (found.claims, found.answers) == (136, 0)
    plain = calibrated(loaded, SupportUse(60), claims(0), [], notify=silent)
    # The statements' curve is theirs alone, whatever short answers there are.
    assert (found.use.slope, found.use.intercept) == pytest.approx((plain.use.slope, plain.use.intercept), rel=1e-3)
    assert found.use.short_slope is not None and plain.use.short_slope is None and plain.claims == 40


def test_too_few_of_a_kind_have_no_curve_of_their_own(loaded: LoadedSupport) -> None:
    found = calibrated(loaded, SupportUse(60), claims(60), [], notify=silent)  # 20 right ones
    assert found.use.short_slope is None and found.claims == 100


@pytest.mark.parametrize("lacks", [{}, {"number_lack": 2.0}, {"word_lack": 3.0, "name_lack": 1.0}])
def test_half_is_even_odds_with_what_is_taken_off(loaded: LoadedSupport, lacks: dict[str, float]) -> None:
    """At the maximum of a logistic likelihood, the mean support of its claims equals their mean target."""
    examples = claims(0)
    found = calibrated(loaded, SupportUse(60, **lacks), examples, [], notify=silent)  # type: ignore[arg-type]
    scorer = SupportScorer(replace(loaded, use=found.use))
    supports = scorer.score([Pair(e.evidence, e.claim, e.question) for e in examples])
    targets = [21 / 22 if e.supported else 1 / 22 for e in examples]
    assert statistics.fmean(supports) == pytest.approx(statistics.fmean(targets), abs=5e-3)  # bf16
    if lacks:
        other = calibrated(loaded, SupportUse(60), examples, [], notify=silent).use
        assert found.use.intercept > other.intercept or found.use.slope != other.slope
