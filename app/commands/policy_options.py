"""Arguments of policies, and what they become."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.policies.policy_request import PolicyRequest


def add_policies(parser: argparse.ArgumentParser) -> None:
    """--policy, --threshold, --max-hallucination-rate, --correct-rounds, --correct-tokens."""
    group = parser.add_argument_group("policies (docs/policies.md)")
    group.add_argument(
        "--policy",
        metavar="LIST",
        default=None,
        help="what a verifier does with the answer, joined by commas, run in this order: none, flag (mark unsupported "
        "spans), strip (remove unsupported claims), best_of_n (the best of --n samples), correct (search again and "
        "answer again), abstain (below the threshold: the documents do not say)",
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=None,
        help="support below which a claim is unsupported and an answer withheld (default 0.5)",
    )
    group.add_argument(
        "--max-hallucination-rate",
        type=float,
        default=None,
        metavar="ALPHA",
        help="answer only with a valid certificate that at most this share of answers hallucinates (plumbline "
        "calibrate); implies --policy abstain",
    )
    group.add_argument(
        "--correct-rounds", type=int, default=None, metavar="N", help="most rounds of correct (default 2)"
    )
    group.add_argument(
        "--correct-tokens",
        type=int,
        default=None,
        metavar="N",
        help="most tokens of correct, prompts and answers together (default 8192)",
    )


def policy_request(arguments: argparse.Namespace) -> PolicyRequest:
    """What the arguments ask for; checked when the query is."""
    from app.policies.policy_request import PolicyRequest

    return PolicyRequest(
        None if arguments.policy is None else tuple(arguments.policy.split(",")),
        arguments.max_hallucination_rate,
        arguments.threshold,
        arguments.correct_rounds,
        arguments.correct_tokens,
    )
