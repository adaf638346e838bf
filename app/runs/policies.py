"""Policies as arms of a run: their settings, the verifier that selects answers, and the judge, which must differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.judging.run_judge import Judge, VerifierPlan, load_scorer
from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge
from app.runs.arms import PolicyParts
from evaluation.errors import EvaluationError
from evaluation.modifiers.arm_names import ArmName, parse_arms
from evaluation.policies.plan import ROUNDS, THRESHOLD, TOKENS, PolicyError, PolicyPlan
from evaluation.runs.run_config import Decoding
from evaluation.verifiers.cached_scorer import CachedScorer


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """Settings of all policies of a run; see PolicyPlan. Raises PolicyError for invalid values."""

    threshold: float = THRESHOLD
    rounds: int = ROUNDS
    tokens: int = TOKENS

    def __post_init__(self) -> None:
        PolicyPlan(threshold=self.threshold, rounds=self.rounds, tokens=self.tokens)


def with_policies(named: Sequence[ArmName]) -> bool:
    """Return whether any arm has policies."""
    return any(arm.policies for arm in named)


def arms_of_policies(text: str, arms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the named arms, followed by the arms of a list of policies such as ``none,strip,best_of_n+abstain``.

    The result always contains rag, with which the other arms are compared. Raises PolicyError for an empty or unknown
    name.
    """
    policies = [policy.strip() for policy in text.split(",")]
    if "" in policies:
        raise PolicyError("policies", f"policies are {text!r}: name them, separated by commas or joined by +")
    try:
        parse_arms(",".join(f"rag+{policy}" for policy in policies if policy != "none") or "rag", 1)
    except EvaluationError as error:
        raise PolicyError("policies", str(error)) from None
    before = tuple(arms or ())
    added = ("rag", *(f"rag+{policy}" for policy in policies if policy != "none"))
    return tuple(dict.fromkeys((*before, *added)))


def check_policies(named: Sequence[ArmName], decoding: Decoding, grid: Sequence[Decoding]) -> None:
    """Raise PolicyError for decoding settings that the policies of the arms do not support."""
    chosen = next((arm for arm in named if arm.policies), None)
    if chosen is None:
        return
    if grid:
        raise PolicyError(
            "grid",
            f"the run has {1 + len(grid)} decoding settings, but arms with policies ({chosen.text}) need a single one",
        )
    several = next((arm for arm in named if arm.policy_samples > 1), None)
    if several is not None and decoding.greedy:
        raise PolicyError(
            "temperature",
            f"temperature is 0: the samples of {several.text} would all be equal; set it, for example, to 0.7",
        )


def judged_by_others(plan: VerifierPlan) -> VerifierPlan:
    """Return the plan with a judge other than the selecting verifier.

    The default judge becomes the references alone, because the shipped verifier selects answers.
    """
    return replace(plan, choice="reference") if plan.choice == "auto" and plan.model is None else plan


def policy_parts(pipeline: Pipeline, options: PolicyOptions, judge: Judge) -> PolicyParts:
    """Return the objects that arms with policies need. The selecting verifier is the shipped one, as for queries.

    Raises PolicyError if the same verifier also judges the run, and the errors of loading it.
    """
    selector = PolicyJudge(CachedScorer(load_scorer(None, pipeline.device)))
    if judge.entailment is not None and judge.entailment.scorer_name == selector.scorer_name:
        raise PolicyError(
            "verifier",
            f"the verifier {selector.scorer_name} selects the answers, so it must not judge them too: it would find "
            "too few hallucinations. Judge by references, facts, a language model, labels, or another verifier model",
        )
    return PolicyParts(pipeline.generator, selector, options.threshold, options.rounds, options.tokens)
