"""Judge claims by a table of facts: exact words, numbers with a tolerance, dates.

A claim is compared with the facts whose subject and relation it names (alone or with its question). It is contradicted
if it states another value, and unverifiable if it states no value or one that cannot be parsed. Other statements of the
claim are not judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from data.fact_tables import Fact, FactTable
from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.claims.sentences import plain_claim_text
from evaluation.claims.splitting import extract_by, split_name
from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim, Evidence, Verdict
from evaluation.verifiers.fact_matching import contradicting_value, facts_named_by, judge_by_fact, phrases
from evaluation.verifiers.match import Match
from evaluation.verifiers.reference_verifier import F1_THRESHOLD
from evaluation.verifiers.verifier import VerificationItem

VERSION = 1
_OTHER_VALUES = 5000


class FactVerifier:
    """A verifier that judges claims by a table of facts."""

    def __init__(
        self,
        table: FactTable,
        tolerance: float = 0.0,
        split: bool = False,
    ) -> None:
        """Create the verifier. Raises EvaluationError for an invalid tolerance.

        tolerance: relative tolerance of numbers, in [0, 1).
        split: whether sentences are split into simpler claims.
        """
        if not 0.0 <= tolerance < 1.0 or not math.isfinite(tolerance):
            raise EvaluationError(f"the tolerance of numbers is {tolerance}: it must be at least 0 and below 1")
        self._table, self._tolerance, self._split = table, tolerance, split
        self._name = (
            f"facts/{VERSION} {table.table[:80]} {table.fingerprint[:12]} tolerance={tolerance:g}{split_name(split)}"
        )
        self._others: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """``facts/VERSION TABLE FINGERPRINT tolerance=T``."""
        return self._name

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract one claim per sentence, or simpler ones (see ``extract_sentences``, ``extract_split_claims``)."""
        return extract_by(self._split, completion, question.text)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``). Raises DataError on database errors."""
        texts = {plain_claim_text(c.text) for item in items for c in item.claims} | {
            item.question.text for item in items
        }
        facts = self._table.about([p for text in sorted(texts) for p in phrases(text)])
        return tuple(tuple(self._judge(item.question, claim, facts) for claim in item.claims) for item in items)

    def _judge(self, question: Question, claim: Claim, facts: Sequence[Fact]) -> Verdict:
        plain = plain_claim_text(claim.text)
        if not any(c.isalnum() for c in plain):
            return Verdict(claim, "unscored", None, "the claim is empty: no letter or digit is left", (), self._name)
        named_facts = facts_named_by(facts, plain, question.text)
        if not named_facts:
            reason = "the fact table has no fact on this claim"
            return Verdict(claim, "unverifiable", 0.0, reason, (), self._name)
        matches = [(self._match(fact, plain, question.text), fact) for fact in named_facts]
        match, fact = max(
            matches, key=lambda m: (m[0].label == "supported", m[0].label == "contradicted", m[0].support)
        )
        where = f"{self._table.table}: {fact.subject}, {fact.relation}"
        evidence = (Evidence(where, 0, len(fact.value), fact.value),)
        reason = f"{match.reason} ({fact.subject}, {fact.relation}: {fact.value})"
        return Verdict(claim, match.label, match.support, reason, evidence, self._name)

    def _match(self, fact: Fact, claim: str, question: str) -> Match:
        match = judge_by_fact(fact, claim, question, self._tolerance, F1_THRESHOLD)
        if match.label != "unverifiable":
            return match
        if fact.relation not in self._others:
            self._others[fact.relation] = self._table.values_of(fact.relation, _OTHER_VALUES)
        other = contradicting_value(fact, claim, question, self._others[fact.relation])
        if other is None:
            return match
        return Match("contradicted", 0.0, f"gives {other!r}, but the table has another value")
