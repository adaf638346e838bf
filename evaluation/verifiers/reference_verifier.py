"""Judge answers by reference answers: exact match, values, lists, containment and token F1.

This cannot judge paraphrases without shared words (use an entailment verifier), or statements of a longer answer beyond
the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.claims.extraction import Extraction, extract_claims
from evaluation.errors import EvaluationError
from evaluation.language.normalise import normalise
from evaluation.language.value_extraction import is_pure
from evaluation.language.values import same_value
from evaluation.outcomes import Claim, Evidence, Verdict
from evaluation.verifiers.match import NOT_SUPPORTED_CEILING, Match
from evaluation.verifiers.matching import compare
from evaluation.verifiers.reading import read_text
from evaluation.verifiers.verifier import VerificationItem

VERSION = 4
F1_THRESHOLD = 0.8
"""Token F1 from which an answer is supported, fixed before any run (docs/architecture.md, rule 8).

It tolerates one missing or extra word in three (F1 0.8). One wrong word in five would also reach it, so an answer with
a substituted content word is never supported by F1.
"""


class ReferenceVerifier:
    """A verifier that compares a claim with each reference of its question.

    A claim is supported if any reference supports it, and contradicted if none does and one contradicts it.
    """

    def __init__(self, f1_threshold: float = F1_THRESHOLD) -> None:
        """Create the verifier.

        f1_threshold: token F1 from which an answer is supported, in (0.75, 1]. Raises EvaluationError for other values.
        """
        if not NOT_SUPPORTED_CEILING < f1_threshold <= 1.0:
            raise EvaluationError(
                f"the F1 threshold of the reference verifier is {f1_threshold}: it must be above "
                f"{NOT_SUPPORTED_CEILING} and at most 1"
            )
        self._threshold = f1_threshold

    @property
    def name(self) -> str:
        """``reference/VERSION f1>=THRESHOLD``."""
        return f"reference/{VERSION} f1>={self._threshold:g}"

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract the entire answer as one claim (see ``extract_claims``)."""
        return extract_claims(completion, question.text)

    def answers(self, question: Question, claim: Claim) -> bool:
        """Return whether a reference of the question supports a statement."""
        return self._judge(question, claim).label == "supported"

    def rejects(self, question: Question, claim: Claim) -> bool:
        """Return whether the references judge a statement and none of them supports it."""
        return self._judge(question, claim).label in ("contradicted", "unverifiable")

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``)."""
        return tuple(tuple(self._judge(item.question, claim) for claim in item.claims) for item in items)

    def _judge(self, question: Question, claim: Claim) -> Verdict:
        spans = tuple(Evidence(s.document_id, s.start, s.end, "") for s in question.evidence)
        if not question.answerable:
            reason = "the collection does not answer this question"
            return Verdict(claim, "unverifiable", 0.0, reason, spans, self.name)
        references = _without_bare_numbers(tuple(r for r in question.references if normalise(r)))
        if not references:
            reason = f"question {question.id!r} has no reference answer: add one, or use another verifier"
            return Verdict(claim, "unscored", None, reason, spans, self.name)
        found = [(compare(claim.text, r, question.text, self._threshold), r) for r in references]
        match, reference = max(found, key=lambda pair: _order(pair[0]))
        evidence = (Evidence(None, 0, len(reference), reference), *spans)
        return Verdict(claim, match.label, match.support, match.reason, evidence, self.name)


def _without_bare_numbers(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the references without bare numbers that another reference gives with a unit.

    References "60 metres" and "60" accept 60 in either form. As a separate alternative, "60" would also accept 60 feet.
    """
    readings = [read_text(r) for r in references]
    kept = []
    for reference, reading in zip(references, readings, strict=True):
        value = reading.values[0] if len(reading.values) == 1 and is_pure(reading.tokens, reading.values) else None
        bare = value is not None and value.number is not None and not value.units and not value.nouns
        fuller = bare and any(
            len(other.values) == 1
            and is_pure(other.tokens, other.values)
            and bool(other.values[0].units or other.values[0].nouns)
            and same_value(other.values[0], reading.values[0])
            for other in readings
        )
        if not fuller:
            kept.append(reference)
    return tuple(kept)


def _order(match: Match) -> tuple[bool, bool, float]:
    """Return a sort key: supported, then contradicted (more informative than unverifiable), then the higher V."""
    return match.label == "supported", match.label == "contradicted", match.support
