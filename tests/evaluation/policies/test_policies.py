"""Each policy on answers of a tiny verifier, and all of them together."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evaluation.outcomes import AnswerEvaluation, Claim, Verdict, outcome_of
from evaluation.policies.candidate import DECLINED
from evaluation.policies.flag import flagged_spans
from evaluation.policies.plan import PolicyError, PolicyPlan, check_samples, policy_names
from evaluation.policies.policy import Draft
from evaluation.policies.running import create_policy, run_now, run_policies
from evaluation.policy_names import ORDER

LAKE = "Lake Orva is 40 metres deep and freezes in January."
SQUIDS = "Squids hunt in the deep sea."
MIXED = "Lake Orva freezes in January [1]. Giant squids hunt tourists there nightly [1]. It is 40 metres deep [1]."


def applied(name: Any, tools: Any, *candidates: Any, **settings: Any) -> Draft:
    policy = create_policy(name, PolicyPlan((name,), **settings))
    return run_now(policy.apply(Draft("How deep is the lake?", tuple(candidates)), tools))


def test_flag_marks_the_unsupported_claim_and_changes_no_text(tiny: Any) -> None:
    tools = tiny()
    candidate = tools.candidate(MIXED, LAKE)
    assert applied("flag", tools, candidate).candidates == (candidate,)
    (span,) = flagged_spans(candidate, 0.5)
    assert MIXED[span.start : span.end] == span.text and "squids" in span.text and span.label == "unverifiable"


def test_flag_marks_what_could_not_be_scored(tiny: Any) -> None:
    claim = Claim("Lake Orva freezes", 0, 17)
    verdict = Verdict(claim, "unscored", None, "too long", (), "tiny")
    candidate = replace(tiny().candidate(LAKE, LAKE), evaluation=outcome_of((verdict,), False))
    assert [(s.support, s.reason) for s in flagged_spans(candidate, 0.5)] == [(None, "too long")]


def test_strip_keeps_the_rest_its_citations_and_verdicts(tiny: Any) -> None:
    tools = tiny()
    (left,) = applied("strip", tools, tools.candidate(MIXED, LAKE)).candidates
    assert left.text == "Lake Orva freezes in January [1]. It is 40 metres deep [1]."
    assert [left.text[c.start : c.end] for c in left.completion.citations] == ["[1]", "[1]"]
    assert all(left.text[v.claim.start : v.claim.end] == v.claim.text for v in left.evaluation.verdicts)
    assert left.evaluation.outcome == "supported" and left.score_now is not None and left.score_now >= 0.5
    (removed,) = left.removed
    assert MIXED[removed.start : removed.end] == removed.text and removed.support is not None
    assert left.completion.token_logprobs == () and left.completion.logprobs_missing


def test_strip_gives_a_citation_to_the_sentence_before_it(tiny: Any) -> None:
    tools = tiny()
    text = "海獭 会 游泳。[1]猪 会 飞行。[2]牛 吃草。[3]"
    (left,) = applied("strip", tools, tools.candidate(text, "海獭 会 游泳。 牛 吃草。")).candidates
    assert left.text == "海獭 会 游泳。[1]牛 吃草。[3]"
    assert [left.text[c.start : c.end] for c in left.completion.citations] == ["[1]", "[3]"]
    assert all(left.text[v.claim.start : v.claim.end] == v.claim.text for v in left.evaluation.verdicts)


def test_strip_withholds_when_nothing_is_left(tiny: Any) -> None:
    tools = tiny()
    (left,) = applied("strip", tools, tools.candidate("Giant squids hunt tourists nightly [1].", LAKE)).candidates
    assert left.text == DECLINED and left.withheld and left.completion.citations == ()
    assert left.evaluation == AnswerEvaluation("abstained", ()) and len(left.removed) == 1


def test_strip_leaves_a_supported_answer_alone(tiny: Any) -> None:
    tools = tiny()
    candidate = tools.candidate("It is 40 metres deep [1].", LAKE)
    assert applied("strip", tools, candidate).candidates == (candidate,)


def test_best_of_n_takes_the_best_score_and_the_earlier_of_equals(tiny: Any) -> None:
    tools = tiny()
    texts = ["Squids are deep.", "It is 40 metres deep.", "Lake Orva is 40 metres deep.", "Lake Orva is deep."]
    made = [tools.candidate(text, LAKE, seed=seed) for seed, text in enumerate(texts)]
    (best,) = applied("best_of_n", tools, *made).candidates
    scores = [c.score_now for c in made]
    assert best is made[scores.index(max(scores))]


def test_best_of_n_prefers_declining_to_an_unsupported_answer(tiny: Any) -> None:
    tools = tiny()
    wrong, refusal = tools.candidate("Squids hunt.", LAKE), tools.candidate("I do not know.", LAKE, seed=1)
    assert refusal.evaluation.outcome == "abstained"
    assert applied("best_of_n", tools, wrong, refusal).candidates == (refusal,)


def test_correct_searches_for_the_claim_and_keeps_the_better_answer(tiny: Any) -> None:
    tools = tiny([LAKE, SQUIDS], ["Squids hunt in the deep sea."])
    draft = applied("correct", tools, tools.candidate("Squids hunt tourists nightly.", LAKE))
    assert draft.candidates[0].text == "Squids hunt in the deep sea."
    (first,) = draft.rounds
    assert first.kept and first.found == 1 and first.score == 1.0 and first.claim.startswith("Squids hunt tourists")
    assert tools.queries == [first.query] and first.query.startswith("How deep is the lake?")


def test_correct_never_takes_a_worse_answer_and_does_not_repeat_a_search(tiny: Any) -> None:
    tools = tiny([LAKE, SQUIDS], ["Pigs fly.", "Pigs fly."])
    candidate = tools.candidate("Squids hunt pigs and cows nightly there.", LAKE)
    draft = applied("correct", tools, candidate, rounds=5)
    assert draft.candidates == (candidate,) and [r.kept for r in draft.rounds] == [False]


def test_correct_does_not_ask_the_same_again(tiny: Any) -> None:
    tools = tiny([LAKE])
    candidate = tools.candidate("Squids hunt.", LAKE)
    draft = applied("correct", tools, candidate)
    assert draft.candidates == (candidate,) and draft.rounds == () and "Squids hunt" in draft.notes[0]
    assert [q.startswith("How deep") for q in tools.queries] == [True, False]


def test_correct_stops_at_its_token_budget(tiny: Any) -> None:
    tools = tiny([LAKE, SQUIDS], ["It is 40 metres deep."])
    candidate = tools.candidate("Squids hunt.", LAKE)
    draft = applied("correct", tools, candidate, tokens=10)
    assert draft.rounds == () and "budget" in draft.notes[0] and tools.answers
    assert len(applied("correct", tools, candidate, tokens=24).rounds) == 1


def test_correct_goes_on_from_claims_that_strip_removed(tiny: Any) -> None:
    tools = tiny([LAKE, SQUIDS], ["It is 40 metres deep."])
    plan = PolicyPlan(policy_names(["correct", "strip"]))
    completion = tools.completion("Squids hunt tourists.")
    outcome = run_now(run_policies(plan, "How deep?", tools.prompt([LAKE]), [completion], tools, verifier="tiny"))
    assert [s.policy for s in outcome.steps] == ["strip", "correct"]
    assert outcome.answers[0].text == "It is 40 metres deep." and not outcome.answers[0].withheld


@pytest.mark.parametrize(
    ("text", "threshold", "given"),
    [
        ("Lake Orva is 40 metres deep.", 1.0, True),
        ("Lake Orva hunts squids.", 0.5, True),
        ("Lake Orva hunts squids.", 0.51, False),
        ("I do not know.", 0.0, False),
        ("!", 0.0, False),
    ],
)
def test_abstain_withholds_below_the_threshold_and_what_has_no_score(
    tiny: Any, text: str, threshold: float, given: bool
) -> None:
    tools = tiny()
    (left,) = applied("abstain", tools, tools.candidate(text, LAKE), threshold=threshold).candidates
    assert (left.text == text) == given and bool(left.withheld) != given
    assert given or left.text == DECLINED


def test_all_policies_run_in_order_and_say_what_they_cost(tiny: Any) -> None:
    tools = tiny([LAKE, SQUIDS], ["It is 40 metres deep."] * 3)
    plan = PolicyPlan(policy_names(["abstain", "correct", "best_of_n", "strip", "flag"]), rounds=1)
    assert plan.names == ORDER[1:]
    completions = [tools.completion("Squids hunt.", 0), tools.completion("Pigs fly.", 1)]
    ticks = iter(range(100))
    outcome = asyncio.run(
        run_policies(
            plan, "How deep?", tools.prompt([LAKE]), completions, tools, drawing_s=2.0, clock=lambda: float(next(ticks))
        )
    )
    assert outcome.answers[0].text == "It is 40 metres deep." and len(outcome.rounds) == 1
    assert outcome.cost.seconds == 2.0 + len(plan.names) and outcome.cost.judged == 3
    assert outcome.cost.prompt_tokens == 20 and outcome.cost.completion_tokens == 2 + 2 + 5
    assert [s.changed for s in outcome.steps] == [False, True, True, True, False]
    assert [s.chosen for s in outcome.samples] == [False, False]


def test_none_asks_no_verifier(tiny: Any) -> None:
    tools = tiny()
    outcome = run_now(run_policies(PolicyPlan(), "?", tools.prompt([]), [tools.completion("Pigs fly.")], tools))
    assert outcome.cost.judged == 0 and outcome.verifier == "" and outcome.answers[0].text == "Pigs fly."


@pytest.mark.parametrize(
    ("names", "value"),
    [(["flga"], "flga"), (["flag", "flag"], "flag"), ([], "policy"), (["none", "strip"], "none"), ([""], "''")],
)
def test_names_that_cannot_be(names: list[str], value: str) -> None:
    with pytest.raises(PolicyError, match=value) as refused:
        policy_names(names)
    assert refused.value.parameter == "policy"


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"threshold": -0.1}, "threshold"),
        ({"threshold": 1.1}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"rounds": 0}, "correct_rounds"),
        ({"tokens": 0}, "correct_tokens"),
        ({"rounds": 17}, "correct_rounds"),
    ],
)
def test_settings_that_cannot_be(settings: Any, parameter: str) -> None:
    with pytest.raises(PolicyError) as refused:
        PolicyPlan(("abstain",), **settings)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize(
    ("name", "samples", "temperature", "parameter"),
    [("best_of_n", 1, 0.7, "n"), ("best_of_n", 3, 0.0, "temperature"), ("correct", 2, 0.7, "n")],
)
def test_samples_that_policies_cannot_work_on(name: Any, samples: int, temperature: float, parameter: str) -> None:
    with pytest.raises(PolicyError) as refused:
        check_samples(PolicyPlan((name,)), samples, temperature)
    assert refused.value.parameter == parameter


def test_a_certificate_is_of_what_changes_the_answer() -> None:
    assert PolicyPlan(policy_names(["abstain", "flag"])).certified_name(1) == "abstain"
    assert (
        PolicyPlan(policy_names(["best_of_n", "abstain"])).certified_name(4) == "best_of_n(n=4 threshold=0.5),abstain"
    )
    assert PolicyPlan(("flag",)).certified_name(1) == "none"


def test_a_coroutine_that_waits_is_not_run_at_once() -> None:
    with pytest.raises(RuntimeError):
        run_now(asyncio.sleep(0.01))
