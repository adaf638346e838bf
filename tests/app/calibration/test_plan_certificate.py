"""``plumbline plan --alpha``: the numbers of the exact test, and invalid values."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

Run = Callable[..., tuple[int, str, str]]


def test_the_fewest_and_the_needed_labels_are_those_of_the_exact_test(plumbline: Run) -> None:
    code, out, _ = plumbline("plan", "--alpha", "0.05", "--json")
    (plan,) = json.loads(out)["certificates"]
    assert code == 0 and plan["fewest"] == 59
    assert plan["needs"][0] == {"rate": 0.0, "answered": 59, "labels": 118}
    assert [n["answered"] for n in plan["needs"]] == sorted(n["answered"] for n in plan["needs"])
    code, out, _ = plumbline("plan", "--alpha", "0.1", "--rate", "0.05", "--answer-rate", "1", "--json")
    assert json.loads(out)["certificates"][0]["needs"] == [{"rate": 0.05, "answered": 179, "labels": 179}]


def test_several_alphas_share_delta_and_a_rate_above_alpha_is_never_certified(plumbline: Run) -> None:
    code, out, _ = plumbline("plan", "--alpha", "0.1", "--alpha", "0.2", "--rate", "0.15")
    assert code == 0 and "level 0.025" in out and "never" in out


@pytest.mark.parametrize(
    "options",
    [
        ("--alpha", "0"),
        ("--alpha", "1"),
        ("--alpha", "0.1", "--delta", "0"),
        ("--alpha", "0.1", "--answer-rate", "0"),
        ("--alpha", "0.1", "--rate", "2"),
        ("--alpha", "0.1", "--power", "1"),
        ("RUN", "--alpha", "0.1"),
    ],
)
def test_numbers_that_cannot_be(plumbline: Run, options: tuple[str, ...]) -> None:
    code, out, err = plumbline("plan", *options)
    assert code == 2 and not out and err.startswith("plumbline: ")
