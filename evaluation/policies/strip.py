"""Implement the policy ``strip``, which removes unsupported claims from an answer.

The remaining text stays readable. If no claim remains, the answer is withheld.
"""

from __future__ import annotations

from dataclasses import replace

from evaluation.outcomes import Claim, Verdict, outcome_of
from evaluation.policies.candidate import Candidate, Removed
from evaluation.policies.cutting import cut_spans, shifted, without_leading_marks, without_spans
from evaluation.policies.policy import Draft, PolicyTools
from retrieval.chunking.sentences import Span


class Strip:
    """A policy that removes complete claims with a support below the threshold.

    Unscored claims stay, because there is no evidence against them (``abstain`` withholds such answers).
    """

    name = "strip"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft with each answer without its unsupported claims."""
        return replace(draft, candidates=tuple(self._stripped(c) for c in draft.candidates))

    def _stripped(self, candidate: Candidate) -> Candidate:
        failing = candidate.unsupported(self._threshold)
        if not failing:
            return candidate
        text = candidate.text
        ordered = sorted(candidate.evaluation.verdicts, key=lambda v: (v.claim.start, v.claim.end))
        fails = [v in failing for v in ordered]
        verdicts = [_without_leading_marks(v, text) for v in ordered]
        spans = cut_spans(text, [Span(v.claim.start, v.claim.end) for v in verdicts], fails)
        removed = tuple(self._removed(v, f) for v, f in zip(verdicts, fails, strict=True) if _touches(v, spans))
        kept = tuple(_mapped(v, spans) for v in verdicts if not _touches(v, spans))
        if not kept:
            return candidate.withhold(self.name, "no claim remains without the unsupported ones", removed)
        completion = candidate.completion
        citations = tuple(
            replace(c, start=shifted(c.start, spans), end=shifted(c.end, spans))
            for c in completion.citations
            if not any(s.start < c.end and c.start < s.end for s in spans)
        )
        shorter = replace(completion, text=without_spans(text, spans), citations=citations)
        return candidate.rewritten(shorter, outcome_of(kept, refused=False), removed)

    def _removed(self, verdict: Verdict, failing: bool) -> Removed:
        claim = verdict.claim
        reason = (
            f"support {verdict.support:.3f} is below the threshold {self._threshold:g}"
            if failing and verdict.support is not None
            else "it is in the same sentence as a removed claim"
        )
        return Removed(self.name, claim.text, claim.start, claim.end, verdict.support, reason)


def _without_leading_marks(verdict: Verdict, text: str) -> Verdict:
    own = without_leading_marks(text, Span(verdict.claim.start, verdict.claim.end))
    return replace(verdict, claim=Claim(text[own.start : own.end], own.start, own.end))


def _touches(verdict: Verdict, spans: tuple[Span, ...]) -> bool:
    return any(s.start < verdict.claim.end and verdict.claim.start < s.end for s in spans)


def _mapped(verdict: Verdict, spans: tuple[Span, ...]) -> Verdict:
    claim = verdict.claim
    return replace(verdict, claim=replace(claim, start=shifted(claim.start, spans), end=shifted(claim.end, spans)))
