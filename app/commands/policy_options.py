"""Arguments of policies for queries and runs, and functions that read their values."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from app.errors import UsageError

if TYPE_CHECKING:
    from app.policies.policy_request import PolicyRequest
    from app.runs.policies import PolicyOptions


def add_policies(parser: argparse.ArgumentParser) -> None:
    """Declare --policy, --threshold, --max-hallucination-rate, --correct-rounds and --correct-tokens."""
    group = parser.add_argument_group("policies (docs/policies.md)")
    group.add_argument(
        "--policy",
        metavar="LIST",
        default=None,
        help="policies by which a verifier treats the answer, joined by commas and run in this order: none, flag (mark "
        "unsupported spans), strip (remove unsupported claims), best_of_n (the best of --n samples), correct (search "
        "and answer again), abstain (give no answer below the threshold)",
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=None,
        help="support below which a claim is unsupported and an answer is withheld (default 0.5)",
    )
    group.add_argument(
        "--max-hallucination-rate",
        type=float,
        default=None,
        metavar="ALPHA",
        help="answer only with a valid certificate that at most this share of the answers is hallucinated (plumbline "
        "calibrate); implies --policy abstain",
    )
    group.add_argument(
        "--correct-rounds", type=int, default=None, metavar="N", help="maximum rounds of the policy correct (default 2)"
    )
    group.add_argument(
        "--correct-tokens",
        type=int,
        default=None,
        metavar="N",
        help="maximum tokens of the policy correct, prompts and answers together (default 8192)",
    )


def policy_request(arguments: argparse.Namespace) -> PolicyRequest:
    """Return the requested policies. They are checked together with the query."""
    from app.policies.policy_request import PolicyRequest

    return PolicyRequest(
        None if arguments.policy is None else tuple(arguments.policy.split(",")),
        arguments.max_hallucination_rate,
        arguments.threshold,
        arguments.correct_rounds,
        arguments.correct_tokens,
    )


_SETTINGS = ("policy_threshold", "correct_rounds", "correct_tokens")


def add_run_policies(parser: argparse.ArgumentParser) -> None:
    """Declare --policies, --policy-threshold, --correct-rounds and --correct-tokens."""
    group = parser.add_argument_group("policies (docs/policies.md)")
    group.add_argument(
        "--policies",
        metavar="LIST",
        default=None,
        help="policies to compare, as arms: none, flag, strip, best_of_n[:N], correct, abstain; + joins policies that "
        "run together, such as best_of_n:8+abstain",
    )
    group.add_argument(
        "--policy-threshold",
        type=float,
        default=None,
        metavar="SUPPORT",
        help="support threshold of all policies (default 0.5)",
    )
    group.add_argument(
        "--correct-rounds", type=int, default=None, metavar="N", help="maximum rounds of the policy correct (default 2)"
    )
    group.add_argument(
        "--correct-tokens",
        type=int,
        default=None,
        metavar="N",
        help="maximum tokens of the policy correct (default 8192)",
    )


def run_policies(arguments: argparse.Namespace) -> tuple[tuple[str, ...] | None, PolicyOptions]:
    """Return the arms, including those of --policies, and the settings of the policies.

    The arms are None if none were given. Raises UsageError, which names the option.
    """
    from app.runs.policies import PolicyOptions, arms_of_policies
    from evaluation.policies.plan import ROUNDS, THRESHOLD, TOKENS, PolicyError
    from evaluation.policy_names import is_policy

    arms = None if arguments.arms is None else tuple(arm.strip() for arm in arguments.arms.split(","))
    threshold, rounds, tokens = arguments.policy_threshold, arguments.correct_rounds, arguments.correct_tokens
    try:
        if arguments.policies is not None:
            arms = arms_of_policies(arguments.policies, arms)
        options = PolicyOptions(
            THRESHOLD if threshold is None else threshold,
            ROUNDS if rounds is None else rounds,
            TOKENS if tokens is None else tokens,
        )
    except PolicyError as error:
        name = "policy_threshold" if error.parameter == "threshold" else error.parameter
        raise UsageError(str(error), parameter=name) from None
    given = [f"--{name.replace('_', '-')}" for name in _SETTINGS if getattr(arguments, name) is not None]
    if given and not any(is_policy(part) for arm in arms or () for part in arm.split("+")):
        raise UsageError(f"{given[0]} is a setting of policies, but no arm has a policy: add --policies")
    return arms, options
