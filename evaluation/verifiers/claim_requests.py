"""Map claims to distinct requests, and results back to verdicts, for verifiers that read evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from evaluation.claims.sentences import plain_claim_text
from evaluation.outcomes import Claim, Evidence, Label, Verdict
from evaluation.verifiers.evidence import ClaimRequest
from evaluation.verifiers.verifier import VerificationItem

Result = TypeVar("Result")


def requests_of(items: Sequence[VerificationItem], together: bool = False) -> list[ClaimRequest]:
    """Return one request per claim, in order, with the claim's text as a scorer reads it.

    together: whether each request contains all claims of its item.
    """
    requests = []
    for item in items:
        answer = claim_texts(item.claims) if together else ()
        requests += [ClaimRequest(item.question, plain_claim_text(claim.text), answer) for claim in item.claims]
    return requests


def claim_texts(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Return the texts of claims as a scorer reads them, without claims that have no letter or digit."""
    return tuple(text for claim in claims if _has_content(text := plain_claim_text(claim.text)))


def distinct_requests(requests: Sequence[ClaimRequest]) -> list[ClaimRequest]:
    """Return the distinct requests whose claim has a letter or digit."""
    return [r for r in dict.fromkeys(requests) if _has_content(r.claim)]


def _has_content(text: str) -> bool:
    return any(character.isalnum() for character in text)


def align_verdicts(
    items: Sequence[VerificationItem],
    requests: Sequence[ClaimRequest],
    results: Mapping[ClaimRequest, Result],
    verdict: Callable[[Claim, Result | None], Verdict],
) -> tuple[tuple[Verdict, ...], ...]:
    """Return a verdict for each claim of each item, from the result for its request.

    wanted: requests of all claims, in order (see ``requests_of``).
    found: results by request.
    verdict: creates the verdict on a claim from its result, which is None for a claim without a letter or digit.
    """
    remaining = iter(requests)
    return tuple(tuple(verdict(claim, results.get(next(remaining))) for claim in item.claims) for item in items)


def unscored(claim: Claim, reason: str, verifier: str) -> Verdict:
    """Return an unscored verdict with its reason."""
    return Verdict(claim, "unscored", None, reason, (), verifier)


def no_claim_verdict(claim: Claim, verifier: str) -> Verdict:
    """Return the verdict on a claim without a letter or digit: unscored."""
    return unscored(claim, "the claim is empty: no letter or digit is left", verifier)


def without_evidence(claim: Claim, verifier: str) -> Verdict:
    """Return the verdict on a claim without evidence in the trusted collection: unverifiable, support 0."""
    reason = "the trusted collection holds no evidence on this claim"
    return Verdict(claim, "unverifiable", 0.0, reason, (), verifier)


def by_support(
    claim: Claim, support: float, threshold: float, reason: str, evidence: tuple[Evidence, ...], verifier: str
) -> Verdict:
    """Return a verdict by support: supported from the threshold on, else unverifiable.

    It is never "contradicted", because support alone cannot show a contradiction.
    """
    label: Label = "supported" if support >= threshold else "unverifiable"
    return Verdict(claim, label, support, reason, evidence, verifier)
