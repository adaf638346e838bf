"""Run a plan's policies in order on the answers to one question."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from time import perf_counter
from typing import Any, TypeVar

from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.abstain import Abstain
from evaluation.policies.best_of_n import BestOfN
from evaluation.policies.candidate import judged_candidate
from evaluation.policies.correct import Correct
from evaluation.policies.flag import Flag
from evaluation.policies.none import NoPolicy
from evaluation.policies.outcome import PolicyCost, PolicyOutcome, PolicyStep, Sample
from evaluation.policies.plan import PolicyPlan
from evaluation.policies.policy import Draft, Policy, PolicyTools
from evaluation.policies.strip import Strip
from evaluation.policy_names import PolicyName
from generation.completion import Completion
from generation.prompt import Prompt

Returned = TypeVar("Returned")


def create_policy(name: PolicyName, plan: PolicyPlan) -> Policy:
    """Return the policy with this name and the plan's settings."""
    makers: dict[PolicyName, Callable[[], Policy]] = {
        "none": NoPolicy,
        "flag": Flag,
        "strip": lambda: Strip(plan.threshold),
        "best_of_n": lambda: BestOfN(plan.threshold),
        "correct": lambda: Correct(plan.threshold, plan.rounds, plan.tokens),
        "abstain": lambda: Abstain(plan.abstains_below),
    }
    return makers[name]()


async def run_policies(
    plan: PolicyPlan,
    question: str,
    prompt: Prompt,
    completions: Sequence[Completion],
    tools: PolicyTools,
    *,
    verifier: str = "",
    drawing_s: float = 0.0,
    clock: Callable[[], float] = perf_counter,
) -> PolicyOutcome:
    """Return the answers after all policies. Raises the errors of the tools.

    completions: samples drawn from the prompt.
    verifier: name of the verifier that judges for ``tools``.
    drawing_s: seconds that drawing the samples took.
    clock: returns the current time in seconds.
    """
    metered = _MeteredTools(tools)
    started = clock()
    evaluations: Sequence[AnswerEvaluation]
    if plan.judges:
        evaluations = await metered.judge([(prompt, c) for c in completions])
    else:
        evaluations = [AnswerEvaluation("unscored", (), "no policy needs a verifier")] * len(completions)
    drawn = tuple(judged_candidate(c, prompt, e) for c, e in zip(completions, evaluations, strict=True))
    draft = Draft(question, drawn)
    steps: list[PolicyStep] = []
    for name in plan.names:
        before = draft.candidates
        draft = await create_policy(name, plan).apply(draft, metered)
        now = clock()
        steps.append(PolicyStep(name, draft.candidates != before, metered.spent(now - started)))
        started = now
    given = {(c.completion.seed, id(c.prompt)) for c in draft.candidates}
    samples = tuple(
        Sample(c.text, c.completion.seed, c.score, (c.completion.seed, id(c.prompt)) in given) for c in drawn
    )
    costs = [step.cost for step in steps]
    cost = PolicyCost(
        drawing_s + sum(c.seconds for c in costs),
        max((c.usage.prompt_tokens for c in completions), default=0) + sum(c.prompt_tokens for c in costs),
        sum(c.usage.completion_tokens for c in completions) + sum(c.completion_tokens for c in costs),
        sum(c.judged for c in costs),
    )
    return PolicyOutcome(
        plan, verifier if plan.judges else "", draft.candidates, samples, tuple(steps), draft.rounds, cost, draft.notes
    )


def run_now(coroutine: Coroutine[Any, Any, Returned]) -> Returned:
    """Return the result of a coroutine that never waits. This needs no event loop.

    Raises RuntimeError if the coroutine waits.
    """
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: Returned = ended.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits: run it in an event loop")


class _MeteredTools:
    """PolicyTools that count tokens and judged answers since the last call of ``spent``."""

    def __init__(self, tools: PolicyTools) -> None:
        self._tools = tools
        self._prompt_tokens = self._completion_tokens = self._judged = 0

    @property
    def longest(self) -> int:
        return self._tools.longest

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        self._judged += len(answers)
        return await self._tools.judge(answers)

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        return await self._tools.search(query, earlier)

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        completion = await self._tools.draw(prompt, number)
        self._prompt_tokens += completion.usage.prompt_tokens
        self._completion_tokens += completion.usage.completion_tokens
        return completion

    def spent(self, seconds: float) -> PolicyCost:
        cost = PolicyCost(seconds, self._prompt_tokens, self._completion_tokens, self._judged)
        self._prompt_tokens = self._completion_tokens = self._judged = 0
        return cost
