"""Judge claims by entailment: a claim is supported if the trusted evidence entails it. No reference is needed.

Support V comes from a pair scorer. Support alone cannot distinguish a contradiction from missing evidence, so a claim
below the threshold is "unverifiable". The threshold is fixed before the run (docs/architecture.md, rule 8). Evidence is
retrieved by question and claim, never by arm (rule 1). A verdict does not depend on other claims unless the verifier
reads an answer's claims together. Such verdicts cannot be used to test drift (rule 6). The verifier's name shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.claims.sentences import plain_claim_text
from evaluation.claims.splitting import split_name
from evaluation.contrast.verbatim import states
from evaluation.errors import EvaluationError
from evaluation.language.language_detection import other_language
from evaluation.outcomes import Claim, Verdict
from evaluation.verifiers.claim_requests import (
    align_verdicts,
    by_support,
    claim_texts,
    distinct_requests,
    no_claim_verdict,
    requests_of,
    unscored,
    without_evidence,
)
from evaluation.verifiers.entailment_scoring import ClaimCase, Support, SupportScoring
from evaluation.verifiers.evidence import ClaimRequest, EvidenceSource
from evaluation.verifiers.evidence_verifier import EvidenceVerifier
from evaluation.verifiers.failing_words import MarkedClaim, WeakClaim, weak_words
from evaluation.verifiers.layered_scorer import without_reader
from evaluation.verifiers.verifier import FAILED, VerificationItem
from model.pairs.scoring import PairScorer, answer_tokens, languages_read

VERSION = 3
TOGETHER = " together"
"""Suffix of the name of a verifier that reads the claims of an answer together."""

THRESHOLD = 0.5
"""Default threshold. Support of a calibrated scorer is a probability, so above it a claim is more likely supported."""


OTHER_LANGUAGE = "this verifier was made for English (another one can be chosen)"
"""Suffix of the reason of a claim that is unscored because of its language."""
_NAME_WORDS = 3
"""Texts with at most this many words may be a name or a number, which is the same in every language."""


@dataclass(frozen=True, slots=True)
class UnreadableClaim:
    """A claim in a language that the scorer does not support. language: description of the language."""

    language: str


def reads_claims_together(verifier: str) -> bool:
    """Return whether the verifier with this name, or a part of a routed one, reads the claims of an answer together."""
    return any(part.endswith(TOGETHER) for part in verifier.split(" | "))


class EntailmentVerifier(EvidenceVerifier):
    """A verifier that supports a claim if the support by some window of its evidence reaches the threshold.

    Its name is ``entailment/VERSION SCORER >=THRESHOLD EVIDENCE``.

    For questions marked as unanswerable, the reader of short answers is not used (see ``without_reader``).
    """

    def __init__(
        self,
        scorer: PairScorer,
        evidence: EvidenceSource,
        threshold: float = THRESHOLD,
        *,
        join: bool = True,
        split: bool = False,
        together: bool = False,
    ) -> None:
        """Create the verifier.

        threshold: minimum support of a supported claim, in (0, 1].
        join: whether the two best windows are also read together (one more pair per claim).
        split: whether sentences are split into simpler claims.
        together: whether the claims of an answer are read together, as each other's context.

        Raises EvaluationError if the threshold is invalid, if the name is too long to store, or if the scorer cannot
        read claims together.
        """
        if not 0.0 < threshold <= 1.0:
            raise EvaluationError(f"the entailment threshold is {threshold}: it must be above 0 and at most 1")
        self._scorer, self._evidence = scorer, evidence
        if together and not answer_tokens(scorer):
            raise EvaluationError(
                f"{scorer.name} reads each claim alone: it cannot read the claims of an answer together"
            )
        self._together = together
        self._scoring, self._without_reader = SupportScoring(scorer, join), SupportScoring(without_reader(scorer), join)
        how = ("" if join else " single") + split_name(split) + (TOGETHER if together else "")
        name = f"entailment/{VERSION} {scorer.name} >={threshold:g} {evidence.name}{how}"
        if len(name) > 255:
            raise EvaluationError(f"the verifier's name {name[:80]!r}... is longer than 255 characters")
        super().__init__(name, threshold, split)

    @property
    def scorer_name(self) -> str:
        """Name of the scorer."""
        return self._scorer.name

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``). Raises errors of search and scorer."""
        requests = requests_of(items, self._together)
        return align_verdicts(items, requests, self._judge(requests), self._verdict)

    @property
    def together(self) -> bool:
        """Whether the claims of an answer are read together."""
        return self._together

    def mark(
        self, question: Question, claims: Sequence[Claim], answer: Sequence[Claim] = ()
    ) -> tuple[MarkedClaim, ...]:
        """Return the claims with their weak words, without which the best evidence would support them more.

        answer: all claims of the answer, if they were read together.

        This costs up to 24 more pairs per unsupported claim, so it is meant for answers that a person will read, not
        for every sample of a run. Claims that are supported, empty, without evidence, or too long to be read in full
        have no weak words. Raises the errors of search and scorer.
        """
        others = claim_texts(answer or claims) if self._together else ()
        requests = [ClaimRequest(question, plain_claim_text(c.text), others) for c in claims]
        judged = self._judge(requests)
        supports = [judged.get(request) for request in requests]
        failed = [
            WeakClaim(claim, s.premise, s.question, s.support, s.full_evidence, s.answer)
            for claim, s in zip(claims, supports, strict=True)
            if isinstance(s, Support)
            and s.windows
            and s.support < self._threshold
            and s.part == plain_claim_text(claim.text)
        ]
        found_words = iter(weak_words(self._scorer if question.answerable else without_reader(self._scorer), failed))
        weak = {w.claim: next(found_words) for w in failed}
        return tuple(MarkedClaim(claim, weak.get(claim, ())) for claim in claims)

    def _judge(self, all_requests: Sequence[ClaimRequest]) -> dict[ClaimRequest, Support | UnreadableClaim]:
        """Return the support of each non-empty request; UnreadableClaim if the scorer cannot read it."""
        requests = distinct_requests(all_requests)
        if not requests:
            return {}
        # A claim's evidence does not depend on the other claims of its answer, so it is retrieved once.
        bare = list(dict.fromkeys(ClaimRequest(r.question, r.claim) for r in requests))
        evidence = dict(zip(bare, self._evidence.evidence_for(bare), strict=True))
        cases = [
            ClaimCase(r.claim, " ".join(r.question.text.split()), evidence[ClaimRequest(r.question, r.claim)], r.answer)
            for r in requests
        ]
        results: dict[ClaimRequest, Support | UnreadableClaim] = {}
        for request, case in zip(requests, cases, strict=True):
            language = self._unsupported_language(case)
            if language:
                stated = states(case.claim, "\n".join(text.text for text in case.evidence))
                results[request] = UnreadableClaim(language) if stated is None else Support(float(stated), windows=1)
        for scoring, answerable in ((self._scoring, True), (self._without_reader, False)):
            indices = [i for i, r in enumerate(requests) if r.question.answerable == answerable and r not in results]
            if indices:
                scored = scoring.score([cases[i] for i in indices])
                results.update((requests[i], support) for i, support in zip(indices, scored, strict=True))
        return results

    def _unsupported_language(self, case: ClaimCase) -> str:
        """Return a description of the unsupported language of claim or evidence; "" if the scorer supports it."""
        if "English" not in languages_read(self._scorer):
            return ""
        claim = other_language(case.claim)
        if claim:
            return f"the answer is in {claim}"
        evidence = other_language(" ".join(text.text for text in case.evidence)) if case.evidence else ""
        return f"the evidence is in {evidence}" if evidence and len(case.claim.split()) > _NAME_WORDS else ""

    def _verdict(self, claim: Claim, judged: Support | UnreadableClaim | None) -> Verdict:
        if judged is None:
            return no_claim_verdict(claim, self._name)
        if isinstance(judged, UnreadableClaim):
            return unscored(claim, f"{judged.language}: {OTHER_LANGUAGE}", self._name)
        if math.isnan(judged.support):
            reason = f"{FAILED}: {self._scorer.name} gave no number in [0, 1] for this claim"
            return unscored(claim, reason, self._name)
        if not judged.windows:
            return without_evidence(claim, self._name)
        read = "two passages read together" if judged.joined else f"best of {judged.windows} evidence windows"
        return by_support(claim, judged.support, self._threshold, read, judged.evidence, self._name)
