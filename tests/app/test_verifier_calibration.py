"""Curves fitted on held-out claims: short answers have one of their own where there are enough, else the common one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.verifier_calibration import calibrated
from data.pairs import PairExample
from model.shipped import shipped_verifier
from model.support_files import SupportUse

PASSAGE = "The lamp of Skerry is green. It stands {0} metres above the sea, and Ada Thorne lit it in 19{0}."


def claims(short: int) -> list[PairExample]:
    """40 statements, every other one wrong, and ``short`` short answers, of which every third is right."""
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped verifier: a network that tells nothing has no curve."""
    return Path(shutil.copytree(shipped_verifier(), tmp_path_factory.mktemp("verifier") / "copy"))


def test_short_answers_are_fitted_by_themselves(folder: Path) -> None:
    use, alone = calibrated(folder, SupportUse(60), claims(96), [], say=lambda text: None)
    assert alone is not None
    plain, _ = calibrated(folder, SupportUse(60), claims(0), [], say=lambda text: None)
    # The statements' curve is theirs alone, whatever short answers there are.
    assert (use.slope, use.intercept) == pytest.approx((plain.slope, plain.intercept), rel=1e-3)
    assert use.short_slope is not None and plain.short_slope is None


def test_too_few_of_a_kind_have_no_curve_of_their_own(folder: Path) -> None:
    use, _ = calibrated(folder, SupportUse(60), claims(60), [], say=lambda text: None)  # 20 right ones
    assert use.short_slope is None
    pooled, _ = calibrated(folder, replace(SupportUse(60), word_lack=1.0), claims(60), [], say=lambda text: None)
    assert pooled.short_slope is None and pooled.slope == pytest.approx(use.slope, rel=1e-3)
