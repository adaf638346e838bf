"""Names of the policies, in the order in which they run."""

from __future__ import annotations

from typing import Literal, get_args

PolicyName = Literal["none", "flag", "strip", "best_of_n", "correct", "abstain"]
ORDER: tuple[PolicyName, ...] = get_args(PolicyName)
"""The order in which policies run, whatever order they are named in."""


def is_policy(part: str) -> bool:
    """Whether a part of an arm's name, such as ``best_of_n:4``, is a policy."""
    return part.partition(":")[0] in ORDER
