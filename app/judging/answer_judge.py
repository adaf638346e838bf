"""Judge answers of other systems: choose the verifier and its evidence, and handle verifier failures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.errors import AppError
from app.judging.verifier_sources import (
    VerifierSource,
    open_fact_verifier,
    open_label_verifier,
    open_language_judge,
    reads_together,
)
from data.answer_records import AnswerRecord
from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Claim, Verdict, outcome_of
from evaluation.runs.records import storable
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import THRESHOLD, EntailmentVerifier
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier
from evaluation.verifiers.verifier import FAILED, VerificationItem, Verifier
from evaluation.verifiers.verifier import failed as verifier_failed
from model.pairs.scoring import PairScorer

ScorerLoader = Callable[[str | None, str], PairScorer]
Choice = Literal["auto", "reference", "entailment", "facts", "judge", "labels"]
Evidence = Literal["contexts", "references"]
Kind = Literal["contexts", "references", "references and contexts", "facts", "labels"]
Measure = Literal["factuality", "faithfulness"]
_SENTENCE_WORDS = 4
"""Minimum number of words of a reference that makes a statement; a shorter one only names the answer."""
AT_ONCE = 64
"""Answers judged in one call. The scorer sorts them by length; at most this many are lost if the process dies."""
_FIRST = min(8, AT_ONCE)
FAILURES_IN_A_ROW = 8
"""Number of consecutive verifier failures after which the remaining answers stay unscored."""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """How answers are judged.

    choice: auto takes references if every answer has some (and contexts, if present, for the rest of the answer), else
    contexts. evidence: evidence of entailment and a language-model judge. model: the entailment scorer as ``model
    eval`` names it (a folder, OWNER/NAME of a sequence classifier, token-overlap, ...), None for the shipped one.
    source: evidence of other verifiers.
    """

    choice: Choice = "auto"
    evidence: Evidence = "contexts"
    model: str | None = None
    threshold: float = THRESHOLD
    device: str = "cpu"
    source: VerifierSource = field(default_factory=VerifierSource)


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """A verifier, and the question under which each answer is judged, in the order of the answers.

    entailment: the verifier, if it judges by entailment. threshold: support from which a claim is supported, None if
    not applicable. measure: what the verdicts measure. kind: kind of evidence. missing: for each answer, why it has no
    evidence, "" if it has. notes: remarks for the user.
    """

    verifier: Verifier
    questions: tuple[Question, ...]
    missing: tuple[str, ...]
    measure: Measure
    kind: Kind
    entailment: EntailmentVerifier | None = None
    notes: tuple[str, ...] = ()
    threshold: float | None = None


def load_scorer(name: str | None, device: str) -> PairScorer:
    """The entailment scorer of this name, None for the shipped one. Raises AppError or ModelError as loading does."""
    from app.models.evaluate import ModelRequest, load_verifier, model_role

    if name is not None and model_role(name) != "verifier":
        raise AppError(f"{name!r} is a reader: it generates answers, and cannot judge them")
    return load_verifier(ModelRequest(name or "verifier", device))


def open_answer_judge(
    records: Sequence[AnswerRecord], plan: JudgePlan, load: ScorerLoader | None = None
) -> AnswerJudge:
    """Open the judge of these answers. load: loads a scorer, called only if entailment is needed.

    Raises AppError if no answer has the evidence that the choice needs, and the errors of loading the scorer.
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
                f"Judged by references (factuality). {with_contexts} of {total} answers have contexts too, "
                "which judge the statements beside the answer itself; the verifier reference ignores those, "
                "entailment measures faithfulness to the contexts alone."
            )
        elif choice == "entailment" and with_references and plan.evidence == "contexts":
            notes.append(
                f"Judged by contexts (faithfulness): only {with_references} of {to_answer} answers have references. "
                "The verifier reference measures factuality on those."
            )
    if choice == "reference":
        both = plan.choice == "auto" and with_contexts > 0
        questions = tuple(
            AnsweredQuestion(
                # evidence is looked up by this id, and each answer has its own evidence
                str(i) if both else r.id or str(i),
                r.question,
                references=r.references,
                answerable=r.answerable or bool(r.references),  # the accepted references take precedence over the mark
            )
            for i, r in enumerate(records)
        )
        # An answer to an unanswerable question is wrong by the mark alone.
        judgeable = [bool(r.references) or not r.answerable for r in records]
        missing = tuple("" if known else "the answer came with no reference" for known in judgeable)
        if both:
            verifier = _references_and_contexts(records, plan, load)
            kind_of_truth: Kind = "references and contexts"
            return AnswerJudge(verifier, questions, missing, "factuality", kind_of_truth, None, tuple(notes))
        return AnswerJudge(ReferenceVerifier(), questions, missing, "factuality", "references", None, tuple(notes))
    kind: Evidence = plan.evidence
    texts = [r.contexts if kind == "contexts" else r.references for r in records]
    if not any(texts):
        raise AppError(
            f"none of the {total} answers has {kind} to judge it by: name the field that holds them, or judge by "
            + ("references (the verifier reference)" if kind == "contexts" else "contexts"),
            parameter=f"{kind}_field",
        )
    missing = tuple("" if texts_of_one else f"the answer came with no {kind[:-1]}" for texts_of_one in texts)
    # Each answer has its own evidence, so each is judged under its own question.
    source = ContextEvidence({str(i): texts_of_one for i, texts_of_one in enumerate(texts)}, kind[:-1])
    questions = tuple(AnsweredQuestion(str(i), r.question, answerable=r.answerable) for i, r in enumerate(records))
    measure: Measure = "faithfulness" if kind == "contexts" else "factuality"
    threshold = plan.threshold
    if choice == "judge":
        language_judge = open_language_judge(plan.source, source, threshold, plan.device)
        return AnswerJudge(language_judge, questions, missing, measure, kind, None, tuple(notes), threshold)
    scorer = CachedScorer((load or load_scorer)(plan.model, plan.device))
    together = reads_together(scorer, plan.source.together)
    entailment = EntailmentVerifier(scorer, source, threshold, split=plan.source.split, together=together)
    return AnswerJudge(entailment, questions, missing, measure, kind, entailment, tuple(notes), threshold)


def _references_and_contexts(
    records: Sequence[AnswerRecord], plan: JudgePlan, load: ScorerLoader | None
) -> RoutedVerifier:
    """References judge whether an answer is right; contexts (and references that are sentences) judge its other
    statements.
    """
    texts = {
        str(i): (*r.contexts, *(t for t in r.references if len(t.split()) >= _SENTENCE_WORDS))
        for i, r in enumerate(records)
        if r.contexts and r.references
    }
    scorer = CachedScorer((load or load_scorer)(plan.model, plan.device))
    entailment = EntailmentVerifier(
        scorer,
        ContextEvidence(texts),
        plan.threshold,
        split=plan.source.split,
        together=reads_together(scorer, plan.source.together),
    )
    # A question without references is wrong by its mark, or unscored: only references judge it.
    return RoutedVerifier(ReferenceVerifier(), entailment, has_evidence=lambda question: question.id in texts)


def _by_itself(records: Sequence[AnswerRecord], plan: JudgePlan) -> AnswerJudge:
    """A judge that needs only the answers' text: facts, or labels."""
    questions = tuple(AnsweredQuestion(r.id or str(i), r.question) for i, r in enumerate(records))
    missing = ("",) * len(records)
    if plan.choice == "labels":
        return AnswerJudge(open_label_verifier(plan.source), questions, missing, "factuality", "labels")
    return AnswerJudge(open_fact_verifier(plan.source), questions, missing, "factuality", "facts")


def answer_key(record: AnswerRecord, judge: AnswerJudge) -> str:
    """A hash of everything that determines a verdict: verifier, question, answer and evidence."""
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


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A judged answer. place: index of the record. failed: whether the verifier failed on it."""

    place: int
    evaluation: AnswerEvaluation
    failed: bool = False


def judge_answers(
    records: Sequence[AnswerRecord],
    judge: AnswerJudge,
    known: Mapping[int, AnswerEvaluation] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[JudgedAnswer, ...]]:
    """Judge all answers except ``known``, in batches, in order; yields results as they are done.

    If the verifier raises or returns NaN for a batch, its answers are judged one by one; each that fails is unscored
    with the reason. After FAILURES_IN_A_ROW failures the verifier is not called again.
    """
    known = known or {}
    open_places = [i for i in range(len(records)) if i not in known]
    done = len(records) - len(open_places)
    if progress is not None:
        progress(done, len(records))
    in_a_row = 0
    for indices in _growing(open_places):
        if in_a_row >= FAILURES_IN_A_ROW:
            found = [JudgedAnswer(i, AnswerEvaluation("unscored", (), _GIVEN_UP), True) for i in indices]
        else:
            try:
                found = _judge(records, judge, indices)
            except Exception:  # judge one by one to find the failing answer
                found = []
                for i in indices:
                    one = _judge_one(records, judge, i, in_a_row)
                    in_a_row = in_a_row + 1 if one.failed else 0
                    found.append(one)
            else:
                for one in found:
                    in_a_row = in_a_row + 1 if one.failed else 0
        done += len(found)
        if progress is not None:
            progress(done, len(records))
        yield tuple(found)


def _growing(indices: Sequence[int]) -> Iterator[Sequence[int]]:
    """Batches that double in size up to AT_ONCE: the first ones soon give a time estimate."""
    start, size = 0, _FIRST
    while start < len(indices):
        yield indices[start : start + size]
        start, size = start + size, min(2 * size, AT_ONCE)


_GIVEN_UP = f"the verifier failed on {FAILURES_IN_A_ROW} answers in a row and was not called again"


def _judge_one(records: Sequence[AnswerRecord], judge: AnswerJudge, index: int, in_a_row: int) -> JudgedAnswer:
    if in_a_row >= FAILURES_IN_A_ROW:
        return JudgedAnswer(index, AnswerEvaluation("unscored", (), _GIVEN_UP), True)
    try:
        return _judge(records, judge, [index])[0]
    except Exception as error:  # one answer must not end the scoring
        message = f"{type(error).__name__}: {error}"[:500]
        return JudgedAnswer(index, AnswerEvaluation("unscored", (), storable(f"{FAILED}: {message}")), True)


def _judge(records: Sequence[AnswerRecord], judge: AnswerJudge, indices: Sequence[int]) -> list[JudgedAnswer]:
    verifier = judge.verifier
    extracted: dict[int, Extraction] = {}
    for i in indices:
        if records[i].answer.strip():
            extracted[i] = verifier.extract(judge.questions[i], records[i].answer)
    judged = [i for i in extracted if extracted[i].claims and not judge.missing[i]]
    items = [VerificationItem(judge.questions[i], extracted[i].claims, records[i].answer) for i in judged]
    found = verifier.verify(items) if items else ()
    if [tuple(v.claim for v in verdicts) for verdicts in found] != [item.claims for item in items]:
        raise EvaluationError("its verdicts do not match the given claims")
    verdicts = dict(zip(judged, found, strict=True))
    results = []
    for i in indices:
        if i not in extracted:
            results.append(JudgedAnswer(i, AnswerEvaluation("unscored", (), "the answer is empty")))
            continue
        own = verdicts[i] if i in verdicts else _unjudged(extracted[i].claims, judge.missing[i], verifier.name)
        results.append(
            JudgedAnswer(i, outcome_of(own, extracted[i].refused, extracted[i].reason), any(map(verifier_failed, own)))
        )
    return results


def _unjudged(claims: Sequence[Claim], reason: str, verifier: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(claim, "unscored", None, reason, (), verifier) for claim in claims)
