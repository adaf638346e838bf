"""Judge answers by the chunks shown in their prompts, for questions without any other source of truth.

Such questions have neither reference answers nor an answer in the documents. An answer with chunks in its prompt can
still be judged for faithfulness. One without chunks cannot be judged. Faithfulness is not factuality, so such questions
are excluded from differences between arms (docs/architecture.md, terms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.claims.splitting import extract_by, split_name
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.verifiers.context_evidence import AnsweredQuestion
from evaluation.verifiers.entailment import THRESHOLD, TOGETHER, EntailmentVerifier
from evaluation.verifiers.evidence import ClaimRequest, EvidenceText
from evaluation.verifiers.verifier import VerificationItem
from generation.prompt import PromptChunk
from model.pairs.scoring import PairScorer

VERSION = 1
NOTHING_TO_JUDGE_BY = (
    "the question has neither a reference answer nor an answer in the documents, and the prompt had no chunks by which "
    "the answer could be judged"
)


def is_judged_by_prompt(question: Question) -> bool:
    """Return whether the question is marked as not answered by the documents.

    A question without this mark is judged by the trusted collection.
    """
    return not question.answerable


class FaithfulVerifier:
    """A verifier that supports a claim if the chunks in its answer's prompt entail it.

    Claims of an answer without chunks are unscored.
    """

    def __init__(
        self, scorer: PairScorer, threshold: float = THRESHOLD, *, split: bool = False, together: bool = False
    ) -> None:
        """Create the verifier with the parameters of EntailmentVerifier.

        Raises EvaluationError if the threshold is invalid or the name is too long to store.
        """
        if not 0.0 < threshold <= 1.0:
            raise EvaluationError(f"the entailment threshold is {threshold}: it must be above 0 and at most 1")
        self._scorer, self._threshold, self._split, self._together = scorer, threshold, split, together
        how = split_name(split) + (TOGETHER if together else "")
        self._name = f"faithful/{VERSION} {scorer.name} >={threshold:g}{how}"
        if len(self._name) > 255:
            raise EvaluationError(f"the verifier's name {self._name[:80]!r}... is longer than 255 characters")

    @property
    def name(self) -> str:
        """``faithful/VERSION SCORER >=THRESHOLD``."""
        return self._name

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract claims as EntailmentVerifier does: one claim per sentence, or simpler ones."""
        return extract_by(self._split, completion, question.text)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``). Raises the errors of the scorer."""
        prompts: dict[tuple[str, tuple[PromptChunk, ...]], str] = {}
        for item in items:
            if item.shown:
                prompts.setdefault((item.question.text, item.shown), str(len(prompts)))
        evidence = _ShownEvidence({number: shown for (_, shown), number in prompts.items()})
        verifier = EntailmentVerifier(
            self._scorer, evidence, self._threshold, split=self._split, together=self._together
        )
        items_with_chunks = [
            # Answers to one prompt share evidence, so their equal claims are scored once.
            VerificationItem(
                AnsweredQuestion(prompts[item.question.text, item.shown], item.question.text),
                item.claims,
                item.completion,
            )
            for item in items
            if item.shown
        ]
        judged = iter(verifier.verify(items_with_chunks))
        return tuple(
            tuple(Verdict(v.claim, v.label, v.support, v.reason, v.evidence, self._name) for v in next(judged))
            if item.shown
            else tuple(Verdict(c, "unscored", None, NOTHING_TO_JUDGE_BY, (), self._name) for c in item.claims)
            for item in items
        )


class _ShownEvidence:
    """An EvidenceSource with the chunks shown in each prompt, with offsets into the documents."""

    name = "chunks shown"

    def __init__(self, prompts: Mapping[str, Sequence[PromptChunk]]) -> None:
        self._texts = {
            number: tuple(
                EvidenceText(
                    c.retrieved.chunk.document_id, c.text, c.retrieved.chunk.start + c.start, c.retrieved.chunk.title
                )
                for c in shown
            )
            for number, shown in prompts.items()
        }

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the texts of each request's prompt, whatever the claim."""
        return tuple(self._texts.get(r.question.id, ()) for r in requests)
