"""Implement the policy ``none``, which gives answers as drawn."""

from __future__ import annotations

from evaluation.policies.policy import Draft, PolicyTools


class NoPolicy:
    """A policy that changes nothing and needs no verifier."""

    name = "none"

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft unchanged."""
        return draft
