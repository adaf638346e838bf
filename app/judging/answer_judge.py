"""Choose the verifier for answers of other systems, and its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from app.errors import AppError
from app.judging.scorers import load_scorer
from app.judging.verifier_sources import (
    VerifierSource,
    judges_claims_together,
    open_fact_verifier,
    open_label_verifier,
    open_language_judge,
)
from data.answer_records import AnswerRecord
from data.questions import Question
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import THRESHOLD, EntailmentVerifier
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier
from evaluation.verifiers.verifier import Verifier
from model.pairs.scoring import PairScorer

ScorerLoader = Callable[[str | None, str], PairScorer]
Choice = Literal["auto", "reference", "entailment", "facts", "judge", "labels"]
Evidence = Literal["contexts", "references"]
Kind = Literal["contexts", "references", "references and contexts", "facts", "labels"]
Measure = Literal["factuality", "faithfulness"]
_SENTENCE_WORDS = 4
"""Minimum number of words of a reference that counts as a statement. A shorter one only names the answer."""
FAILURES_IN_A_ROW = 8
"""Number of consecutive failures of the verifier after which the remaining answers stay unscored."""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Settings with which answers of other systems are judged.

    choice: the verifier. "auto" takes references if every answer has some, with contexts for the other statements of an
    answer; otherwise it takes contexts.
    evidence: evidence for entailment and for a language-model judge.
    model: entailment scorer, named as in ``model eval`` (a folder, OWNER/NAME of a sequence classifier, token-overlap,
    ...); None for the shipped one.
    threshold: minimum support of a supported claim, in (0, 1].
    device: device of the scorer; "auto" is resolved by ``on_this_machine``.
    source: settings of other verifiers.
    """

    choice: Choice = "auto"
    evidence: Evidence = "contexts"
    model: str | None = None
    threshold: float = THRESHOLD
    device: str = "cpu"
    source: VerifierSource = field(default_factory=VerifierSource)


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """An open verifier for given answers.

    questions: the question under which each answer is judged, in the order of the answers.
    missing: for each answer, the reason why it has no evidence, "" if it has evidence.
    measure: what the verdicts measure. kind: kind of evidence.
    entailment: the verifier if it judges by entailment alone, otherwise None.
    notes: remarks for the user.
    threshold: minimum support of a supported claim; None if it does not apply.
    texts: evidence for entailment by question ID.
    """

    verifier: Verifier
    questions: tuple[Question, ...]
    missing: tuple[str, ...]
    measure: Measure
    kind: Kind
    entailment: EntailmentVerifier | None = None
    notes: tuple[str, ...] = ()
    threshold: float | None = None
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def on_this_machine(plan: JudgePlan) -> JudgePlan:
    """Return the plan with the device "auto" resolved. Raises ModelError for a device that this machine lacks."""
    from model.hardware.device import pick_device

    return replace(plan, device=str(pick_device(plan.device))) if plan.device == "auto" else plan


def open_answer_judge(
    records: Sequence[AnswerRecord], plan: JudgePlan, load: ScorerLoader | None = None
) -> AnswerJudge:
    """Open the judge for these answers. load: function that loads a scorer; called only if entailment is needed.

    Raises AppError if no answer has the evidence that the verifier needs, and the errors of loading the scorer.
    """
    if plan.choice in ("facts", "labels"):
        return _by_itself(records, plan)
    with_references = sum(bool(r.references) for r in records)
    to_answer = sum(r.answerable or bool(r.references) for r in records)
    with_contexts = sum(bool(r.contexts) for r in records)
    total = len(records)
    if not with_references and not with_contexts:
        raise AppError(
            f"none of the {total} answers has contexts or references, so there is nothing to judge them by: name the "
            "field that holds them",
            parameter="contexts_field",
        )
    notes = []
    choice: Choice = plan.choice
    if choice == "auto":
        by_references = with_references > 0 and (with_references == to_answer or with_references > with_contexts)
        choice = "reference" if plan.evidence == "contexts" and by_references else "entailment"
        if choice == "reference" and with_contexts:
            notes.append(
                f"Judged by references (factuality). {with_contexts} of {total} answers also have contexts, which "
                "judge the other statements of an answer. The verifier reference ignores these statements; the "
                "verifier entailment measures faithfulness to the contexts alone."
            )
        elif choice == "entailment" and with_references and plan.evidence == "contexts":
            notes.append(
                f"Judged by contexts (faithfulness): only {with_references} of {to_answer} answers have references. "
                "The verifier reference measures factuality on these answers."
            )
    if choice == "reference":
        both = plan.choice == "auto" and with_contexts > 0
        questions = tuple(
            AnsweredQuestion(
                # The evidence is found by this ID, and each answer has its own evidence.
                str(i) if both else r.id or str(i),
                r.question,
                references=r.references,
                answerable=r.answerable or bool(r.references),  # the accepted references take precedence over the mark
            )
            for i, r in enumerate(records)
        )
        # The mark is enough to judge an answer to an unanswerable question.
        judgeable = [bool(r.references) or not r.answerable for r in records]
        missing = tuple("" if known else "the answer has no reference" for known in judgeable)
        if both:
            own = _texts_beside_references(records)
            verifier = verifier_by_texts("references and contexts", own, plan, _scorer(plan, load))
            return AnswerJudge(
                verifier, questions, missing, "factuality", "references and contexts", None, tuple(notes), texts=own
            )
        return AnswerJudge(ReferenceVerifier(), questions, missing, "factuality", "references", None, tuple(notes))
    kind: Evidence = plan.evidence
    texts = [r.contexts if kind == "contexts" else r.references for r in records]
    if not any(texts):
        raise AppError(
            f"none of the {total} answers has {kind} to judge it by: name the field that holds them, or judge by "
            + ("references (the verifier reference)" if kind == "contexts" else "contexts"),
            parameter=f"{kind}_field",
        )
    missing = tuple("" if texts_of_one else f"the answer has no {kind[:-1]}" for texts_of_one in texts)
    # Each answer has its own evidence, so each is judged under its own question.
    by_id = {str(i): texts_of_one for i, texts_of_one in enumerate(texts)}
    questions = tuple(AnsweredQuestion(str(i), r.question, answerable=r.answerable) for i, r in enumerate(records))
    measure: Measure = "faithfulness" if kind == "contexts" else "factuality"
    threshold = plan.threshold
    if choice == "judge":
        source = ContextEvidence(by_id, kind[:-1])
        language_judge = open_language_judge(plan.source, source, threshold, plan.device)
        return AnswerJudge(language_judge, questions, missing, measure, kind, None, tuple(notes), threshold)
    entailment = _entailment(kind, by_id, plan, _scorer(plan, load))
    return AnswerJudge(entailment, questions, missing, measure, kind, entailment, tuple(notes), threshold, by_id)


def _scorer(plan: JudgePlan, load: ScorerLoader | None) -> PairScorer:
    return CachedScorer((load or load_scorer)(plan.model, plan.device))


def verifier_by_texts(kind: Kind, texts: Mapping[str, Sequence[str]], plan: JudgePlan, scorer: PairScorer) -> Verifier:
    """Return the entailment verifier for a kind of evidence.

    texts: texts by question ID, as in ``AnswerJudge.texts``. With "references and contexts", references judge whether
    an answer is right. Contexts, and references that are sentences, judge its other statements.
    """
    if kind == "references and contexts":
        # Answers without references are judged by the mark of the question, or they are unscored.
        entailment = _entailment("contexts", texts, plan, scorer)
        return RoutedVerifier(ReferenceVerifier(), entailment, has_evidence=lambda question: question.id in texts)
    return _entailment(kind, texts, plan, scorer)


def _entailment(
    kind: Kind, texts: Mapping[str, Sequence[str]], plan: JudgePlan, scorer: PairScorer
) -> EntailmentVerifier:
    return EntailmentVerifier(
        scorer,
        ContextEvidence(texts, kind[:-1]),
        plan.threshold,
        split=plan.source.split,
        together=judges_claims_together(scorer, plan.source.together),
    )


def _texts_beside_references(records: Sequence[AnswerRecord]) -> dict[str, tuple[str, ...]]:
    return {
        str(i): (*r.contexts, *(t for t in r.references if len(t.split()) >= _SENTENCE_WORDS))
        for i, r in enumerate(records)
        if r.contexts and r.references
    }


def _by_itself(records: Sequence[AnswerRecord], plan: JudgePlan) -> AnswerJudge:
    """Return a judge that needs no evidence in the records: facts or labels."""
    questions = tuple(AnsweredQuestion(r.id or str(i), r.question) for i, r in enumerate(records))
    missing = ("",) * len(records)
    if plan.choice == "labels":
        return AnswerJudge(open_label_verifier(plan.source), questions, missing, "factuality", "labels")
    return AnswerJudge(open_fact_verifier(plan.source), questions, missing, "factuality", "facts")


def answer_key(record: AnswerRecord, judge: AnswerJudge) -> str:
    """Return a hash (hex) of everything that determines a verdict: verifier, question, answer and evidence."""
    digest = hashlib.sha256(b"plumbline/answer/1")
    both = (*record.references, "contexts", *record.contexts)
    evidence = {
        "references": record.references,
        "contexts": record.contexts,
        "references and contexts": both,
    }.get(judge.kind, ())
    marked = () if record.answerable else ("not answerable",)
    for part in (judge.verifier.name, record.question, record.answer, *evidence, *marked):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
