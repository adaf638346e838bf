"""Agreement of annotators: published examples, scikit-learn's kappa, and undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.correction.agreement import adjudicate, agreement, cohen_kappa, krippendorff_alpha
from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", sections A, B and C; "." is a missing label.
BINARY = ("0100000010", "1110010000")
NOMINAL = ("aabbdcccedda", "babbbcccedde"[:-1] + "d")
MISSING = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def labels(rows: tuple[str, ...]) -> dict[str, dict[int, str]]:
    return {f"rater{i}": {u: v for u, v in enumerate(row) if v != "."} for i, row in enumerate(rows)}


def counts(rows: tuple[str, ...]) -> Floats:
    kinds = sorted(set("".join(rows)) - {"."})
    return np.array([[sum(row[u] == k for row in rows) for k in kinds] for u in range(len(rows[0]))], dtype=float)


@pytest.mark.parametrize(("rows", "alpha"), [(BINARY, 0.095), (NOMINAL, 0.692), (MISSING, 0.743)])
def test_alpha_of_krippendorffs_own_examples(rows: tuple[str, ...], alpha: float) -> None:
    assert float(krippendorff_alpha(counts(rows))) == pytest.approx(alpha, abs=5e-4)
    found = agreement(labels(rows))[-1]
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.lower is not None and found.upper is not None and found.lower <= alpha + 5e-4 <= found.upper + 1e-3


def test_kappa_of_a_two_by_two_table() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = 0.7, p_e = 0.5, kappa = 0.4.
    assert float(cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))) == pytest.approx(0.4)


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(5)
    one = rng.choice(list("hsa"), 80)
    two = np.where(rng.random(80) < 0.6, one, rng.choice(list("hsa"), 80))
    given = {"ann": dict(enumerate(one.tolist())), "bob": dict(enumerate(two.tolist()))}
    kappa, alpha = agreement(given, seed=1)
    assert kappa.value == pytest.approx(cohen_kappa_score(one, two))
    assert kappa.observed == pytest.approx(float((one == two).mean())) and alpha.observed == pytest.approx(
        kappa.observed
    )
    assert kappa.lower is not None and kappa.upper is not None and kappa.value is not None
    assert kappa.lower < kappa.value < kappa.upper


def test_resampled_alpha_is_the_alpha_of_the_repeated_items() -> None:
    table = counts(MISSING)
    weights = np.array([[2, 0, 1, 1, 3, 1, 1, 0, 1, 1, 1, 0]], dtype=float)
    repeated = np.repeat(table, weights[0].astype(int), axis=0)
    assert float(krippendorff_alpha(table, weights)[0]) == pytest.approx(float(krippendorff_alpha(repeated)))


def test_agreement_that_cannot_be_known_says_why() -> None:
    assert agreement({"ann": {1: "s"}}) == () == agreement({"ann": {1: "s"}, "bob": {}})
    kappa, alpha = agreement({"ann": {1: "s", 2: "s"}, "bob": {1: "s", 2: "s"}})
    assert kappa.value is None and alpha.value is None and "only one label occurs" in alpha.reason
    kappa, alpha = agreement({"ann": {1: "s"}, "bob": {2: "h"}})
    assert kappa.value is None and "in common" in kappa.reason and "two labels" in alpha.reason


def test_adjudication() -> None:
    votes = {
        "ann": {1: "h", 2: "h", 3: "h", 4: "s"},
        "bob": {1: "h", 2: "s", 3: "s", 5: "h"},
        "cy": {1: "h", 2: "h", 3: "a"},
    }
    found = {d.item: (d.label, d.how) for d in adjudicate(votes)}
    assert found == {
        1: ("h", "unanimous"),
        2: ("h", "majority"),
        3: (None, "tie"),
        4: ("s", "one"),
        5: ("h", "one"),
    }
    settled = {d.item: (d.label, d.how) for d in adjudicate(votes, {3: "a", 2: "s"})}
    assert settled[3] == ("a", "adjudicated") and settled[2] == ("s", "adjudicated")
    with pytest.raises(EvaluationError, match="9"):
        adjudicate(votes, {9: "h"})
