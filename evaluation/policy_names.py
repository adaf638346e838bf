"""Names of the policies, in the order in which they run."""

from __future__ import annotations

from typing import Literal, get_args

PolicyName = Literal["none", "flag", "strip", "best_of_n", "correct", "abstain"]
ORDER: tuple[PolicyName, ...] = get_args(PolicyName)
"""Order in which policies run, regardless of the order in which they are named."""


def is_policy(part: str) -> bool:
    """Return whether a part of an arm's name, such as ``best_of_n:4``, is a policy."""
    return part.partition(":")[0] in ORDER
