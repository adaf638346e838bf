"""From a labelled run to a certified query on the command line: both sides use the same names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.labelling.draws import DrawRequest, open_draw
from app.pipeline import Pipeline
from app.settings import Settings
from evaluation.correction.label_store import LabelStore, StoredLabel

PARTS = ("pump", "valve", "gauge", "filter", "lamp", "brush", "motor", "chain", "wheel", "lever", "plate", "drum")


@pytest.mark.drill
@pytest.mark.parametrize("references", [False, True])
def test_labels_certify_what_a_query_then_answers(
    typed: Callable[..., SimpleNamespace], make_settings: Callable[..., Settings], tmp_path: Path, references: bool
) -> None:
    docs, home = tmp_path / "docs", tmp_path / "home"
    docs.mkdir()
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(PARTS, start=11):
        (docs / f"{part}.md").write_text(f"# The {part}\n\nThe {part} of the Orva mill weighs {number} kilograms.\n")
        row: dict[str, Any] = {"id": part, "text": f"How much does the {part} of the Orva mill weigh?"}
        rows.append({**row, "references": [f"{number} kilograms"]} if references else row)
    questions = tmp_path / "q.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)))
    at_home = ("--home", home)
    assert typed("index", docs, "--collection", "mill", *at_home).code == 0
    ran = typed("evaluate", questions, "--arms", "rag", "--faithfulness", *at_home, "--json")
    run = json.loads(ran.out)["run"]
    with Pipeline(Settings(home=home, database="", encoder="", model="", device="cpu")) as pipeline:
        drawn = open_draw(pipeline, run, DrawRequest(questions=len(PARTS)))
        keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
        given = [StoredLabel(key, "me", "supported") for key in keys]
        LabelStore(pipeline.store).save(run, drawn.stored.decoding, given)
    question = ("query", rows[3]["text"], *at_home, "--max-hallucination-rate", "0.5", "--json")
    before = typed(*question)
    assert before.code == 1 and "plumbline calibrate" in before.err
    made = typed("calibrate", run, "--alpha", "0.5", "--thresholds", "0.05", *at_home, "--json")
    assert made.code == 0, made.err
    answered = typed(*question)
    assert answered.code == 0, answered.err
    policy = json.loads(answered.out)["policy"]
    assert policy["ran"] == ["abstain"] and policy["threshold"] == 0.05
    assert policy["certificate"]["alpha"] == 0.5 and policy["answers"][0]["answered"]
    other = typed(*question, "--max-tokens", "16")
    assert other.code == 1 and "decoding" in other.err
    assert typed("index", docs, "--collection", "mill", "--chunk-tokens", "40", *at_home).code == 0
    assert "generation" in typed(*question).err


@pytest.mark.drill
def test_labels_of_a_policys_answers_certify_that_policy(typed: Callable[..., SimpleNamespace], tmp_path: Path) -> None:
    docs, home = tmp_path / "docs", tmp_path / "home"
    docs.mkdir()
    rows = []
    for number, part in enumerate(PARTS, start=11):
        (docs / f"{part}.md").write_text(f"# The {part}\n\nThe {part} of the Orva mill weighs {number} kilograms.\n")
        row = {"id": part, "text": f"How much does the {part} of the Orva mill weigh?"}
        rows.append(row | {"references": [f"{number} kilograms"]})
    questions = tmp_path / "q.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)))
    at_home = ("--home", home)
    assert typed("index", docs, "--collection", "mill", *at_home).code == 0
    ran = typed("evaluate", questions, "--policies", "none,strip,best_of_n+abstain,best_of_n", *at_home, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert [p["policy"] for p in found["policies"]["policies"]] == [
        *("none", "strip", "best_of_n:4+abstain", "best_of_n:4")
    ]
    label_all(home, found["run"])
    made = typed("calibrate", found["run"], "--policies", "--alpha", "0.5", "--thresholds", "0.05", *at_home, "--json")
    assert made.code == 0, made.err
    certified = {one["policy"]: one["results"][0] for one in json.loads(made.out)["policies"]}
    assert set(certified) == {
        *("abstain", "strip(threshold=0.5),abstain", "best_of_n(n=4 threshold=0.5),abstain")
    } and all(result["level"] == pytest.approx(0.05 / 3) for result in certified.values())
    asked = ("query", rows[3]["text"], *at_home, "--max-hallucination-rate", "0.5", "--json", "--temperature", "0.7")
    for words, names in (
        ((), ["abstain"]),
        (("--policy", "strip,abstain"), ["strip", "abstain"]),
        (("--policy", "best_of_n,abstain", "--n", "4"), ["best_of_n", "abstain"]),
    ):
        answered = typed(*asked, *words)
        assert answered.code == 0, answered.err
        policy = json.loads(answered.out)["policy"]
        assert policy["ran"] == names and policy["certificate"]["threshold"] == 0.05
    for words, named in (
        (("--policy", "correct,abstain"), "correct"),
        (("--policy", "best_of_n,abstain", "--n", "3"), "n=3"),
        (("--policy", "strip,abstain", "--threshold", "0.6"), "threshold=0.6"),
    ):
        refused = typed(*asked, *words)
        assert refused.code == 1 and named in refused.err and "plumbline calibrate" in refused.err


def label_all(home: Path, run: str) -> None:
    """Label every answer of a run as supported."""
    with Pipeline(Settings(home=home, database="", encoder="", model="", device="cpu")) as pipeline:
        drawn = open_draw(pipeline, run, DrawRequest(questions=len(PARTS)))
        keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
        given = [StoredLabel(key, "me", "supported") for key in keys]
        LabelStore(pipeline.store).save(run, drawn.stored.decoding, given)
