"""``plumbline evaluate --policies``: figures of a run with policies, its judge, and rejected options."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.calibration.labelled_run import labelled_arm
from app.judging.run_judge import VerifierPlan
from app.labelling.draws import DrawRequest, open_draw
from app.labelling.label_files import export_labels, import_labels
from app.labelling.sessions import LabelSession
from app.runs.analysis import AnalysisOptions
from app.runs.evaluate import EvaluationPlan, dry_run, evaluate
from app.runs.policies import PolicyOptions, arms_of_policies
from app.runs.report import report_data
from data.questions import Question
from evaluation.correction.label_store import LabelStore, StoredLabel
from evaluation.policies.candidate import DECLINED
from evaluation.policies.plan import PolicyError
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore

QUESTION = "How long is the warranty of the Heron 4?"
TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."
PLAN = EvaluationPlan(
    (Question("q1", QUESTION, ("three years",)), Question("q2", f"Please: {QUESTION}", ("three years",))),
    ("rag", "rag+strip", "rag+abstain"),
    "notes",
    samples=1,
    decoding=Decoding(0.0, max_tokens=32),
)


def test_the_same_questions_under_each_policy_judged_by_references(policy_world: Any) -> None:
    policy_world.says.texts = [f"{TRUE} {FALSE}"]
    line = policy_world.line
    run = evaluate(line, PLAN).run_id
    info = RunStore(line.store).load_run(run)
    assert info.config.verifier.startswith("reference/")
    texts = {(s.arm, s.completion.text) for s in RunStore(line.store).load_samples(run) if s.completion}
    assert texts == {("rag", f"{TRUE} {FALSE}"), ("rag+strip", TRUE), ("rag+abstain", DECLINED)}
    assert len(policy_world.says.prompts) == 2  # one answer a question, whatever the number of policies
    data = report_data(line, run)
    assert data.policies is not None and data.policies.selector == policy_world.judge.name
    none, strip, abstain = data.policies.policies
    assert strip.rate.rate == 0.0 and strip.answer_rate.rate == 1.0 and abstain.answer_rate.rate == 0.0
    assert none.judged == 0 and strip.judged == 1 and abstain.rate.rate is None
    assert [(p.baseline, p.other) for p in data.summary.pairs] == [("rag", "rag+strip"), ("rag", "rag+abstain")]


def test_a_selector_never_measures_itself(policy_world: Any) -> None:
    line = policy_world.line
    for judging in (VerifierPlan("entailment"), VerifierPlan("entailment", threshold=0.7)):
        with pytest.raises(PolicyError) as refused:
            evaluate(line, replace(PLAN, judging=judging))
        assert refused.value.parameter == "verifier" and policy_world.judge.scorer_name in str(refused.value)
    assert not policy_world.says.prompts
    run = evaluate(line, PLAN).run_id
    data = report_data(line, run, AnalysisOptions(faithfulness=True))
    assert any("own judge" in note for note in data.notes)
    assert data.analysis is not None and not json.dumps(data.analysis.to_json()).count(policy_world.judge.name)


def test_questions_without_references_are_unscored_not_judged_by_the_selector(policy_world: Any) -> None:
    plan = replace(PLAN, questions=(*PLAN.questions, Question("bare", "What lasts three years?")))
    samples = RunStore(policy_world.line.store).load_samples(evaluate(policy_world.line, plan).run_id)
    bare = {s.arm: s.evaluation for s in samples if s.question_id == "bare"}
    assert bare["rag"].outcome == bare["rag+strip"].outcome == "unscored" and bare["rag"].reason


def test_labels_of_a_policys_answers_have_the_scores_that_it_saw(policy_world: Any) -> None:
    policy_world.says.texts = [f"{TRUE} {FALSE}"]
    line = policy_world.line
    run = evaluate(line, PLAN).run_id
    drawn = open_draw(line, run, DrawRequest(questions=2))
    keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
    given = [StoredLabel(key, "me", "supported") for key in keys]
    LabelStore(line.store).save(run, drawn.stored.decoding, given)
    scores = {arm: labelled_arm(line, run, arm).answers.score for arm in PLAN.arms or ()}
    assert max(scores["rag"]) < 0.5 < min(scores["rag+strip"])
    assert all(score < 0 for score in scores["rag+abstain"])
    assert labelled_arm(line, run, "rag").verifier == policy_world.judge.name


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"arms": ("rag", "rag+best_of_n")}, "temperature"),
        ({"grid": (Decoding(1.0, max_tokens=32),)}, "grid"),
    ],
)
def test_decodings_that_policies_cannot_work_on(policy_world: Any, changed: dict[str, Any], named: str) -> None:
    with pytest.raises(PolicyError) as refused:
        evaluate(policy_world.line, replace(PLAN, **changed))
    assert refused.value.parameter == named and not policy_world.says.prompts


def test_other_settings_are_another_run(policy_world: Any) -> None:
    one = evaluate(policy_world.line, PLAN)
    other = evaluate(policy_world.line, replace(PLAN, policies=PolicyOptions(threshold=0.25)))
    again = evaluate(policy_world.line, PLAN)
    assert one.run_id != other.run_id and again.run_id == one.run_id and again.resumed == again.total
    with pytest.raises(PolicyError):
        PolicyOptions(rounds=0)


def test_a_dry_run_counts_what_policies_draw(policy_world: Any) -> None:
    arms = ("rag", "rag+best_of_n:4", "rag+correct")
    plan = replace(PLAN, arms=arms, decoding=Decoding(0.7, max_tokens=32))
    found = dry_run(policy_world.line, plan)
    assert found.cells == 6 and found.generations == 2 * (1 + 4 + 3) and found.most_new_tokens == 16 * 32
    assert found.new_tokens is not None and 2 * (1 + 4 + 1) * 2 <= found.new_tokens <= 2 * (1 + 4 + 3) * 2


def test_arms_of_a_list_of_policies() -> None:
    assert arms_of_policies("none, strip,best_of_n+abstain", None) == ("rag", "rag+strip", "rag+best_of_n+abstain")
    assert arms_of_policies("strip", ("closed_book", "rag")) == ("closed_book", "rag", "rag+strip")
    assert arms_of_policies("strip,strip", None) == ("rag", "rag+strip")
    with pytest.raises(PolicyError):
        arms_of_policies("strip,,none", None)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--policies", ""), "--policies"),
        (("--policies", "ripst"), "ripst"),
        (("--policies", "none+strip"), "none"),
        (("--policies", "best_of_n:1"), "best_of_n"),
        (("--policies", "best_of_n", "--temperature", "0"), "--temperature"),
        pytest.param(
            ("--policies", "strip", "--temperatures", "0.5,1"), "3 decoding settings", id="words5-3 decodings"
        ),
        (("--policies", "strip", "--policy-threshold", "2"), "--policy-threshold"),
        (("--correct-tokens", "9"), "--correct-tokens"),
        (("--policies", "correct", "--correct-rounds", "0"), "correct_rounds is 0"),
        (("--policies", "correct", "--correct-tokens", "0"), "correct_tokens is 0"),
        (("--policies", "strip", "--verifier", "entailment"), "--verifier"),
    ],
)
def test_what_cannot_be_asked_is_named(
    typed: Callable[..., SimpleNamespace], home_copy: Path, tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps({"id": "q", "text": QUESTION, "references": ["three years"]}))
    done = typed("evaluate", questions, "--collection", "notes", "--home", home_copy, *words)
    assert done.code == 2 and named in done.err and "Traceback" not in done.err and not done.out


def test_one_label_counts_for_equal_answers_to_a_question(policy_world: Any, tmp_path: Path) -> None:
    policy_world.says.texts = [TRUE, f"{TRUE} {FALSE}"]  # the second question is answered with both sentences
    line = policy_world.line
    drawn = open_draw(line, evaluate(line, PLAN).run_id, DrawRequest(questions=2))
    session = LabelSession(line.store, drawn, "me")
    answers = [(item.key[0], item.answer) for item in session.items]
    assert len(answers) == len(set(answers)) == 4  # three equal ones of q1; drawn, stripped and withheld of q2
    for item in session.items:
        session.label(item, "supported")
    assert session.progress().complete == 2 and len(session.own()) == 6 and session.first_open() is None
    first = next(item for item in session.items if item.key[0] == "q1")
    session.label(first, "hallucinated")
    assert {label for key, label in session.own().items() if key[0] == "q1"} == {"hallucinated"}
    file = tmp_path / "labels.csv"
    other = LabelSession(line.store, drawn, "you")
    assert export_labels(other, file) == 4
    rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
    lines = [f"{row['item']},abstained" for row in rows if row["question"] == QUESTION]
    file.write_text("\n".join(("item,label", *lines)))
    assert import_labels(line, drawn, file, "you", False).labels == 1
    assert {key[1] for key in other.own()} == set(PLAN.arms or ()) and set(other.own().values()) == {"abstained"}
