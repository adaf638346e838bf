"""Baseline files and comparison with them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import BaselineError, EvaluationError
from evaluation.gating.baseline import Baseline, Counts, premises_of, read_baseline, write_baseline
from evaluation.gating.formats import to_json, to_junit, to_markdown
from evaluation.gating.regression import GateReport, broken_premises, changed_premises, compare_to_baseline
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig

H: Counts = (1, 0, 0, 0)
S: Counts = (0, 1, 0, 0)
A: Counts = (0, 0, 1, 0)
PREMISES = {
    "verifier": "reference/3",
    "questions": "q1",
    "model": "m1",
    "collection": "c1",
    "samples": "1",
    "decoding": "greedy",
}


def _counts(bad: int, n: int = 40, kind: Counts = H) -> dict[str, Counts]:
    return {f"q{i:02d}": kind if i < bad else S for i in range(n)}


def _baseline(bad: int = 4, n: int = 40) -> Baseline:
    rows = _counts(bad, n)
    return Baseline("r1", "2026-01-01T00:00:00", PREMISES, dict.fromkeys(rows, "x"), {"rag": rows}, {"rag": {}})


def _compare(baseline: Baseline, rows: dict[str, Counts], **options: float) -> dict[str, bool]:
    settings: dict[str, Any] = {"level": 0.95, "margin": 0.0, **options}
    compared = compare_to_baseline(baseline, {"rag": rows}, dict.fromkeys(rows, "x"), **settings)
    return {one.quantity: one.regressed for one in compared}


def test_the_same_run_passes() -> None:
    assert _compare(_baseline(), _counts(4)) == {"hallucinated": False, "supported": False}


def test_noise_passes_and_a_real_loss_fails() -> None:
    assert _compare(_baseline(), _counts(6)) == {"hallucinated": False, "supported": False}
    assert _compare(_baseline(), _counts(18)) == {"hallucinated": True, "supported": True}


def test_an_improvement_passes() -> None:
    assert _compare(_baseline(20), _counts(2)) == {"hallucinated": False, "supported": False}


def test_answers_that_become_abstentions_are_a_loss_of_support_only() -> None:
    rows = {q: A if 4 <= i < 20 else c for i, (q, c) in enumerate(_counts(4).items())}
    assert _compare(_baseline(), rows) == {"hallucinated": False, "supported": True}


def test_a_margin_is_allowed() -> None:
    assert _compare(_baseline(), _counts(18), margin=0.5) == {"hallucinated": False, "supported": False}


def test_questions_are_paired() -> None:
    """The number of bad answers is as before, but on other questions. This is not a regression."""
    rows = {f"q{i:02d}": H if 20 <= i < 24 else S for i in range(40)}
    assert _compare(_baseline(), rows) == {"hallucinated": False, "supported": False}
    (one, _) = compare_to_baseline(_baseline(), {"rag": rows}, dict.fromkeys(rows, "x"), level=0.95, margin=0)
    assert one.worst == ("q20", "q21", "q22", "q23")


@pytest.mark.parametrize(("level", "margin"), [(0.5, 0.0), (1.0, 0.0), (0.95, -0.1), (0.95, 1.0)])
def test_levels_and_margins_that_cannot_be(level: float, margin: float) -> None:
    with pytest.raises(EvaluationError):
        _compare(_baseline(), _counts(4), level=level, margin=margin)


def test_a_missing_arm_and_changed_questions_are_named() -> None:
    with pytest.raises(EvaluationError, match="'rag'"):
        compare_to_baseline(_baseline(), {"oracle": _counts(4)}, {}, level=0.95, margin=0)
    with pytest.raises(EvaluationError, match="0 questions"):
        compare_to_baseline(_baseline(), {"rag": _counts(4)}, {}, level=0.95, margin=0)


def test_premises() -> None:
    baseline = _baseline()
    other = PREMISES | {"verifier": "entailment/9", "model": "m2"}
    assert broken_premises(baseline, PREMISES, False) == []
    assert ["entailment/9" in text for text in broken_premises(baseline, other, False)] == [True]
    assert [text.split(":")[0] for text in changed_premises(baseline, other)] == ["model"]
    questions = PREMISES | {"questions": "q2"}
    assert broken_premises(baseline, questions, False)
    assert not broken_premises(baseline, questions, True)


@pytest.mark.parametrize(
    ("name", "verifier", "evidence"),
    [
        ("entailment/2 m >=0.5 k=5 in 0c1d39aa9995", "entailment/2 m >=0.5 k=5", "0c1d39aa9995"),
        ("routed/4 reference/3 | entailment/2 in ffffffffffff", "routed/4 reference/3 | entailment/2", "ffffffffffff"),
        ("reference/3 f1>=0.8", "reference/3 f1>=0.8", ""),
    ],
)
def test_another_index_is_not_another_verifier(name: str, verifier: str, evidence: str) -> None:
    config = RunConfig("q", (ArmSpec("rag", ""),), 1, Decoding(), 0, "m", name, "1")
    found = premises_of(config)
    assert (found["verifier"], found["evidence"]) == (verifier, evidence)


def test_a_baseline_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, _baseline())
    assert read_baseline(path) == _baseline()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"plumbline_baseline": 2}',
        '{"plumbline_baseline": 1}',
        '{"plumbline_baseline": 1, "run": "r", "created": "", "premises": {}, "questions": {}, "estimates": {}, '
        '"counts": {"rag": {"q": [1, -1, 0, 0]}}}',
        '{"plumbline_baseline": 1, "run": "r", "created": "", "premises": {}, "questions": {}, "estimates": {}, '
        '"counts": {"rag": {"q": [true, 0, 0, 0]}}}',
        "\x00\xff",
    ],
)
def test_what_is_no_baseline(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(EvaluationError, match=r"baseline\.json"):
        read_baseline(path)


def test_a_missing_baseline_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"none\.json") as caught:
        read_baseline(tmp_path / "none.json")
    assert caught.value.parameter == "renew"


def _report() -> GateReport:
    baseline, rows = _baseline(), _counts(20)
    compared = compare_to_baseline(baseline, {"rag": rows}, dict.fromkeys(rows, "x"), level=0.95, margin=0.0)
    return GateReport("r2", "r1", 0.95, 0.0, (), ("model: a → b",), compared)


def test_formats_say_the_same() -> None:
    report = _report()
    assert to_json(report)["failed"] is True
    suite = ET.fromstring(to_junit(report).encode())
    assert suite.get("failures") == "2"
    assert [case.get("name") for case in suite] == ["premises", "rag: hallucinated", "rag: supported"]
    assert "gate failed" in to_markdown(report)
    json.dumps(to_json(report), allow_nan=False)


@pytest.mark.parametrize("name", ["a|b", "<script>", "@everyone", "x\x00\ud800y", "`c`"])
def test_names_cannot_break_the_formats(name: str) -> None:
    broken = replace(_report(), broken=(f"verifier: {name}",))
    ET.fromstring(to_junit(broken).encode("utf-8"))
    shown = to_markdown(broken)
    assert "<script>" not in shown
    assert "@everyone" not in shown
