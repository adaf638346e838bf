"""none: answers are given as drawn."""

from __future__ import annotations

from evaluation.policies.policy import Draft, PolicyTools


class GiveAsDrawn:
    """Changes nothing and needs no verifier."""

    name = "none"

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """The same."""
        return draft
