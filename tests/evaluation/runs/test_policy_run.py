"""Policies as arms of a run: the same draws, another judge, what is stored, and a selector that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from data.questions import Question
from data.store import Store
from evaluation.claims.extraction import extract_claims
from evaluation.outcomes import AnswerEvaluation, Verdict, outcome_of
from evaluation.policies.candidate import DECLINED
from evaluation.policies.plan import PolicyPlan
from evaluation.runs.arms import Rag
from evaluation.runs.experiment import RunOptions, run_experiment
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.policy_arm import PolicyArm, chunk_settings, policy_settings
from evaluation.runs.policy_runner import PolicyRunner
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from generation.completion import Completion
from generation.prompt import Prompt

PLANS = {
    "rag": (PolicyPlan(), 1),
    "rag+strip": (PolicyPlan(("strip",)), 1),
    "rag+best_of_n:4": (PolicyPlan(("best_of_n",)), 4),
    "rag+best_of_n:4+abstain": (PolicyPlan(("best_of_n", "abstain")), 4),
    "rag+abstain": (PolicyPlan(("abstain",)), 1),
}


class Likes:
    """Supports answers that name a city it likes."""

    name = "likes/1"

    def __init__(self, city: str = "Paris", fails_on: str = "") -> None:
        self.city, self.fails_on = city, fails_on
        self.judged: list[str] = []

    def evaluate(self, question: str, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        if question == self.fails_on:
            raise RuntimeError("out of order")
        self.judged += [c.text for _, c in answers]
        return tuple(self.opinion(c.text) for _, c in answers)

    def opinion(self, text: str) -> AnswerEvaluation:
        found = extract_claims(text)
        support = 1.0 if self.city in text else 0.25
        label = "supported" if support == 1.0 else "unverifiable"
        return outcome_of(tuple(Verdict(c, label, support, "", (), "x") for c in found.claims), found.refused)


class Policies:
    """A run of PLANS over the lab's questions."""

    def __init__(self, lab: Any, store: Store, selector: Likes, generator: Any = None, samples: int = 2) -> None:
        self.lab, self.runs, self.extra = lab, RunStore(store), ExtraVerdicts(store)
        self.generator = generator or Counting(lab.Parrot())
        self.selector = selector
        runner = PolicyRunner(self.generator, selector, lab.Passages(), 3)
        base = Rag(lab.Passages(), 3)
        self.arms = [PolicyArm(base, name, plan, several, runner) for name, (plan, several) in PLANS.items()]
        self.config = lab.config(chosen=self.arms, samples=samples)

    def __call__(self, options: RunOptions | None = None) -> dict[tuple[str, str, int], SampleRecord]:
        run_experiment(
            self.config, self.lab.QUESTIONS, self.arms, self.generator, ReferenceVerifier(), self.runs, options
        )
        return {(s.question_id, s.arm, s.sample): s for s in self.runs.load_samples(self.config.run_id)}


class Counting:
    """A generator that counts the answers that it draws."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.drawn = inner, 0
        self.name, self.fingerprint, self.context_length = inner.name, inner.fingerprint, inner.context_length

    def prompt(self, *given: Any) -> Prompt:
        return self.inner.prompt(*given)  # type: ignore[no-any-return]

    def generate(self, prompt: Prompt, params: Any, seeds: Sequence[int]) -> tuple[Completion, ...]:
        self.drawn += len(seeds)
        return self.inner.generate(prompt, params, seeds)  # type: ignore[no-any-return]


def test_policies_work_on_the_answers_that_are_given_without_them(lab: Any, store: Store) -> None:
    policies = Policies(lab, store, Likes())
    found = policies()
    plain = Rag(lab.Passages(), 3)
    alone = lab.config(chosen=[plain], samples=2)
    run_experiment(alone, lab.QUESTIONS, [plain], lab.Parrot(), ReferenceVerifier(), policies.runs)
    for sample in policies.runs.load_samples(alone.run_id):
        key = (sample.question_id, sample.sample)
        mine = found[key[0], "rag", key[1]]
        drawn, kept = sample.completion, found[key[0], "rag+abstain", key[1]].completion
        assert drawn is not None and kept is not None and mine.completion == drawn and mine.seed == sample.seed
        assert mine.evaluation == sample.evaluation
        assert kept.text == (drawn.text if "Paris" in drawn.text else DECLINED)
        best = found[key[0], "rag+best_of_n:4", key[1]].completion
        assert best is not None and ("Paris" in best.text or "Paris" not in drawn.text)
    # two samples, each drawn once for all policies but best_of_n, which draws four of each for both of its arms
    assert policies.generator.drawn == len(lab.QUESTIONS) * (2 + 2 * 4)


def test_withheld_answers_abstain_and_the_other_judge_judges_the_rest(lab: Any, store: Store) -> None:
    found = Policies(lab, store, Likes())()
    withheld = [s for (_, arm, _), s in found.items() if arm == "rag+abstain" and s.policy and s.policy.withheld]
    assert withheld and {s.evaluation.outcome for s in withheld} == {"abstained"}
    given = [s for (q, arm, _), s in found.items() if arm == "rag+abstain" and q == "q1" and s not in withheld]
    for sample in given:  # the selector likes Paris, the references of q1 say Rome
        assert sample.evaluation.outcome == "hallucinated" and sample.policy and sample.policy.score == 1.0


def test_each_policy_is_charged_for_all_that_it_takes_by_itself(lab: Any, store: Store) -> None:
    policies = Policies(lab, store, Likes())
    found = policies()
    for (_, arm, _), sample in found.items():
        assert sample.policy is not None
        cost, number = sample.policy.cost, PLANS[arm][1]
        judged = 0 if arm == "rag" else number
        assert (cost.prompt_tokens, cost.completion_tokens, cost.judged) == (3, number, judged)
        assert cost.seconds > 0
    distinct = {(q, s.completion.text) for (q, arm, _), s in found.items() if arm == "rag" and s.completion}
    assert len(policies.selector.judged) < 3 * len(lab.QUESTIONS) * (2 + 2 * 4) and distinct


def test_the_selectors_verdicts_are_stored_with_the_samples(lab: Any, store: Store) -> None:
    policies = Policies(lab, store, Likes())
    found = policies()
    stored = policies.extra.load(policies.config.run_id, "likes/1")
    label = policies.config.decoding.label
    for (question, arm, number), sample in found.items():
        own = stored.get((question, arm, label, number), ())
        scores = [v.support for v in own if v.support is not None]
        assert sample.policy is not None and sample.policy.score == (min(scores) if scores else None)
        assert all(v.verifier == "likes/1" for v in own)
        assert all(v.verifier != "likes/1" for v in sample.evaluation.verdicts)


def test_a_resumed_run_is_the_same_run(lab: Any, store: Store, tmp_path: Any) -> None:
    first = Policies(lab, store, Likes())
    first(RunOptions(limit=7))
    resumed = Policies(lab, store, Likes())()
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        whole = Policies(lab, other, Likes())()

    def timeless(records: dict[tuple[str, str, int], SampleRecord]) -> dict[tuple[str, str, int], SampleRecord]:
        out = {}
        for key, s in records.items():
            assert s.policy is not None
            out[key] = replace(s, policy=replace(s.policy, cost=replace(s.policy.cost, seconds=0.0)))
        return out

    assert timeless(resumed) == timeless(whole)


def test_a_selector_that_fails_makes_the_answer_unscored_and_is_asked_again(lab: Any, store: Store) -> None:
    found = Policies(lab, store, Likes(fails_on="Where is 2?"))()
    failed = {key for key, s in found.items() if s.failure}
    assert {question for question, _, _ in failed} == {"q2"}
    for key in failed:
        assert found[key].failure == "verifier" and found[key].evaluation.outcome == "unscored"
        assert "out of order" in found[key].evaluation.reason
    again = Policies(lab, store, Likes())(RunOptions(retry_failed=True))
    assert not any(s.failure for s in again.values())


def test_settings_name_the_policy_and_the_selector(lab: Any, store: Store) -> None:
    policies = Policies(lab, store, Likes())
    specs = {arm.name: arm.settings for arm in policies.config.arms}
    assert policy_settings(specs["rag"]) is None
    found = policy_settings(specs["rag+best_of_n:4"])
    assert found is not None and found.policy == "best_of_n(n=4 threshold=0.5)" and found.selector == "likes/1"
    assert {chunk_settings(s) for s in specs.values()} == {specs["rag"]}
    other = PolicyArm(Rag(lab.Passages(), 3), "rag+strip", PolicyPlan(("strip",), 0.75), 1, policies.arms[0].runner)
    assert other.settings != specs["rag+strip"]
    abstains = PolicyArm(Rag(lab.Passages(), 3), "rag+abstain", PolicyPlan(("abstain",), 0.75), 1, other.runner)
    assert abstains.settings != specs["rag+abstain"]


@pytest.mark.parametrize("samples", [1, 3])
def test_correct_searches_again_with_the_claim(lab: Any, store: Store, samples: int) -> None:
    class Once(lab.Passages):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.queries: list[str] = []

        def retrieve_many(self, queries: Sequence[str], k: int) -> Any:
            self.queries += queries
            found = super().retrieve_many(queries, 4)
            pairs = zip(queries, found, strict=True)
            return tuple((tuple(reversed(one)) if "Rome" in q else one)[:k] for q, one in pairs)

    class Scripted(lab.Scripted):  # type: ignore[misc, name-defined]
        def prompt(self, question: str, chunks: Any, longest: int) -> Prompt:
            made: Prompt = super().prompt(question, chunks, longest)
            return replace(made, token_ids=tuple(c.retrieved.chunk.start for c in made.chunks))

        def generate(self, prompt: Prompt, params: Any, seeds: Sequence[int]) -> tuple[Completion, ...]:
            text = "It is Oslo." if any("Oslo" in c.text for c in prompt.chunks) else "It is Rome."
            return tuple(self.notify(text, seed) for seed in seeds)

    generator, search = Scripted(str), Once()
    arm = PolicyArm(
        Rag(search, 2), "rag+correct", PolicyPlan(("correct",)), 1, PolicyRunner(generator, Likes("Oslo"), search, 2)
    )
    question = Question("q", "Where?", ("Oslo",))
    config = lab.config([question], [arm], samples=samples)
    runs = RunStore(store)
    run_experiment(config, [question], [arm], generator, ReferenceVerifier(), runs)
    for sample in runs.load_samples(config.run_id):
        assert sample.completion is not None and sample.completion.text == "It is Oslo."
        assert sample.policy is not None and sample.policy.rounds == 1 and sample.policy.cost.prompt_tokens == 6
        assert sample.evaluation.outcome == "supported" and any("Oslo" in c.text for c in sample.chunks)
    assert any("Where? It is Rome" in query for query in search.queries)
    assert Decoding().label == config.decoding.label
