"""Route claims to verifiers: references judge the answer to the question, evidence judges all other statements.

The route depends only on the question and the answer's text, so all arms of a question are judged in the same way
(docs/architecture.md, rule 1). A question without references, also one that the documents do not answer, is judged by a
search of the trusted collection in every arm.

If a question has references, they judge the entire answer as one claim, and each further sentence is a claim for the
evidence. The response is hallucinated if either fails (rule 2). If the answer is wrong, all its sentences are also
claims for the evidence, so that readers see both verdicts. An answer that neither gives nor contradicts a reference,
and that the evidence supports, is supported but unresponsive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import UNRESPONSIVE, Claim, Verdict
from evaluation.verifiers.additions import additions
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.faithful import is_judged_by_prompt
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.unresponsive import is_unresponsive
from evaluation.verifiers.verifier import VerificationItem

_ROUTED, _FAITHFUL, _ENTAILMENT = "routed/1", "routed/2", "entailment/"
_ANSWERED = ("routed/3", "routed/4", "routed/5")


def has_references(question: Question) -> bool:
    """Return whether the question defines a right answer, by references or by the mark that it is unanswerable."""
    return bool(question.references) or not question.answerable


def judged_by_entailment(verifier: str, question: Question) -> bool:
    """Return whether the verifier with this name judges this question by entailment.

    The names of earlier versions are known, so that stored runs can be read.
    """
    if verifier.startswith(_ANSWERED):
        return not question.references
    routed = verifier.startswith((_ROUTED, _FAITHFUL))
    return verifier.startswith(_ENTAILMENT) or (routed and not has_references(question))


def excluded_from_differences(verifier: str, question: Question) -> bool:
    """Return whether the verifier with this name judges this question by the chunks shown in each arm.

    Such a question is excluded from differences between arms. Only stored runs of an earlier version have such
    verifiers.
    """
    return verifier.startswith(_FAITHFUL) and is_judged_by_prompt(question)


class RoutedVerifier:
    """A verifier that uses the reference verifier for questions with references, and evidence for other statements."""

    def __init__(
        self,
        reference: ReferenceVerifier,
        entailment: EntailmentVerifier,
        has_evidence: Callable[[Question], bool] = lambda _: True,
    ) -> None:
        """Create the verifier. Raises EvaluationError if the combined name is too long to store.

        has_evidence: returns whether a question has evidence for further statements. Without evidence only the
            references judge.
        """
        self._reference, self._entailment, self._has_evidence = reference, entailment, has_evidence
        self._name = f"{_ANSWERED[-1]} {reference.name} | {entailment.name}"
        if len(self._name) > 255:
            raise EvaluationError(f"the verifier's name {self._name[:80]!r}... is longer than 255 characters")

    @property
    def name(self) -> str:
        """``routed/5 REFERENCE | ENTAILMENT``. All verdicts have this name."""
        return self._name

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract the claims of the answer.

        For a question with references these are the entire answer and then its further statements.
        """
        if not self._by_reference(question):
            return self._entailment.extract(question, completion)
        answer = self._reference.extract(question, completion)
        if not answer.claims or not self._has_evidence(question):
            return answer
        further = self._further(question, completion, answer.claims[0])
        return Extraction((*answer.claims, *further), answer.refused, answer.reason)

    def _by_reference(self, question: Question) -> bool:
        return bool(question.references) or not self._has_evidence(question)

    def _further(self, question: Question, completion: str, answer: Claim) -> tuple[Claim, ...]:
        """Return the statements in addition to the one that answers the question.

        For a wrong answer these are all statements. For a right one they are the other statements and the additions
        inside the answering one. There are none if no single statement answers.
        """
        claims = self._entailment.extract(question, completion).claims
        if self._reference.rejects(question, answer):
            return claims
        found: list[Claim] = []
        answered = False
        for claim in claims:
            if self._reference.answers(question, claim):
                answered = True
                found += self._added(question, claim)
            else:
                found.append(claim)
        return tuple(found) if answered else ()

    def _added(self, question: Question, claim: Claim) -> tuple[Claim, ...]:
        """Return the additions to the answer inside an answering sentence."""

        def answers(text: str) -> bool:
            return self._reference.answers(question, Claim(text, 0, len(text)))

        known = (question.text, *question.references)
        return tuple(
            Claim(claim.text[span.start : span.end], claim.start + span.start, claim.start + span.end)
            for span in additions(claim.text, known, answers)
        )

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``). Each verifier is called once."""
        has_reference = [self._by_reference(item.question) for item in items]
        by_reference = [
            replace(item, claims=item.claims[:1]) for item, has in zip(items, has_reference, strict=True) if has
        ]
        by_evidence = [
            replace(item, claims=item.claims[1:] if has else item.claims)
            for item, has in zip(items, has_reference, strict=True)
        ]
        answered = iter(self._reference.verify(by_reference))
        rest = self._entailment.verify(by_evidence)
        results = []
        for item, has, verdicts in zip(items, has_reference, rest, strict=True):
            answer = next(answered) if has else ()
            if answer and is_unresponsive(item.question, answer[0], verdicts):
                answer = (replace(answer[0], label="supported", support=1.0, reason=UNRESPONSIVE),)
                verdicts = tuple(v if v.label == "supported" else replace(answer[0], claim=v.claim) for v in verdicts)
            results.append(tuple(replace(v, verifier=self._name) for v in (*answer, *verdicts)))
        return tuple(results)
