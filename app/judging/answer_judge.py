"""Judging answers of other systems: which verifier, by what, and what happens when it fails half way."""

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
"""A reference of so many words states something; a shorter one only names the answer."""
AT_ONCE = 64
"""Answers judged in one call: the scorer sorts them by length, and so many are lost at most when the process dies."""
_FIRST = min(8, AT_ONCE)
FAILURES_IN_A_ROW = 8
"""After so many answers in a row that the verifier failed on, it is not asked again: the rest stays unscored."""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """How answers are judged. choice: auto takes references where every answer has some (and contexts, where there are
    some, for what else an answer says), else contexts.

    evidence: what entailment and a judge read. model: the entailment scorer as ``model eval`` names it (a folder,
    OWNER/NAME of a sequence classifier, token-overlap, ...), None for the shipped one. source: what others judge by.
    """

    choice: Choice = "auto"
    evidence: Evidence = "contexts"
    model: str | None = None
    threshold: float = THRESHOLD
    device: str = "cpu"
    source: VerifierSource = field(default_factory=VerifierSource)


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """A verifier and the question that each answer is judged under, in the order of the answers.

    entailment: the verifier, where it judges by entailment. threshold: support from which a claim counts, None where
    there is none. measure: what its verdicts are about. kind: of what is read as truth. missing: why an answer has
    nothing to be judged by, "" where it has. notes: what a person should know.
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
    """The entailment scorer of a name, None for the shipped one. Raises AppError or ModelError as loading it does."""
    from app.models.evaluate import ModelRequest, load_verifier, model_role

    if name is not None and model_role(name) != "verifier":
        raise AppError(f"{name!r} is a reader: it writes answers, and cannot judge them")
    return load_verifier(ModelRequest(name or "verifier", device))


def open_answer_judge(
    records: Sequence[AnswerRecord], plan: JudgePlan, load: ScorerLoader | None = None
) -> AnswerJudge:
    """The judge of these answers. load: of a scorer, which is loaded only where entailment is needed.

    Raises AppError when no answer has what the choice needs, and what loading the scorer raises.
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
                f"Judged by references (factuality). {with_contexts} of {total} answers have contexts too, which judge "
                "what an answer says beside answering; the verifier reference leaves that out, entailment "
                "measures faithfulness to the contexts alone."
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
                str(i) if both else r.id or str(i),  # evidence is found by this id, and an answer's is its own
                r.question,
                references=r.references,
                answerable=r.answerable or bool(r.references),  # what is accepted says more than a mark
            )
            for i, r in enumerate(records)
        )
        # Whatever claims to answer what has no answer is wrong by the mark alone.
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
    missing = tuple("" if held else f"the answer came with no {kind[:-1]}" for held in texts)
    # An answer's evidence is its own, so each answer is judged under a question of its own.
    source = ContextEvidence({str(i): held for i, held in enumerate(texts)}, kind[:-1])
    questions = tuple(AnsweredQuestion(str(i), r.question, answerable=r.answerable) for i, r in enumerate(records))
    measure: Measure = "faithfulness" if kind == "contexts" else "factuality"
    threshold = plan.threshold
    if choice == "judge":
        asked = open_language_judge(plan.source, source, threshold, plan.device)
        return AnswerJudge(asked, questions, missing, measure, kind, None, tuple(notes), threshold)
    scorer = CachedScorer((load or load_scorer)(plan.model, plan.device))
    together = reads_together(scorer, plan.source.together)
    entailment = EntailmentVerifier(scorer, source, threshold, split=plan.source.split, together=together)
    return AnswerJudge(entailment, questions, missing, measure, kind, entailment, tuple(notes), threshold)


def _references_and_contexts(
    records: Sequence[AnswerRecord], plan: JudgePlan, load: ScorerLoader | None
) -> RoutedVerifier:
    """References judge whether an answer is right, and its contexts (with references that are sentences) the rest."""
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
    # A question without references is wrong by its mark, or unscored: references judge it alone.
    return RoutedVerifier(ReferenceVerifier(), entailment, has_evidence=lambda question: question.id in texts)


def _by_itself(records: Sequence[AnswerRecord], plan: JudgePlan) -> AnswerJudge:
    """A judge that needs nothing of the answers but their words: facts, or labels."""
    questions = tuple(AnsweredQuestion(r.id or str(i), r.question) for i, r in enumerate(records))
    missing = ("",) * len(records)
    if plan.choice == "labels":
        return AnswerJudge(open_label_verifier(plan.source), questions, missing, "factuality", "labels")
    return AnswerJudge(open_fact_verifier(plan.source), questions, missing, "factuality", "facts")


def answer_key(record: AnswerRecord, judge: AnswerJudge) -> str:
    """What a verdict depends on, as one hash: verifier, question, answer and what it is judged by."""
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
    """place: of the record among those given. failed: whether the verifier failed on it."""

    place: int
    evaluation: AnswerEvaluation
    failed: bool = False


def judge_answers(
    records: Sequence[AnswerRecord],
    judge: AnswerJudge,
    known: Mapping[int, AnswerEvaluation] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[JudgedAnswer, ...]]:
    """Judge all answers but those ``known``, some at a time, in order; what is not known comes as it is judged.

    Where the verifier raises, or its verdicts are no verdicts (NaN), the answers of that call are judged one by one;
    each that fails is unscored with the reason. After FAILURES_IN_A_ROW of them it is not asked again.
    """
    known = known or {}
    open_places = [i for i in range(len(records)) if i not in known]
    done = len(records) - len(open_places)
    if progress is not None:
        progress(done, len(records))
    in_a_row = 0
    for places in _growing(open_places):
        if in_a_row >= FAILURES_IN_A_ROW:
            found = [JudgedAnswer(i, AnswerEvaluation("unscored", (), _GIVEN_UP), True) for i in places]
        else:
            try:
                found = _judge(records, judge, places)
            except Exception:  # which answer it was is found out one by one
                found = []
                for i in places:
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


def _growing(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """In parts that double up to AT_ONCE: the first ones soon tell how long all of them take."""
    start, size = 0, _FIRST
    while start < len(places):
        yield places[start : start + size]
        start, size = start + size, min(2 * size, AT_ONCE)


_GIVEN_UP = f"the verifier failed on {FAILURES_IN_A_ROW} answers in a row and was not asked again"


def _judge_one(records: Sequence[AnswerRecord], judge: AnswerJudge, place: int, in_a_row: int) -> JudgedAnswer:
    if in_a_row >= FAILURES_IN_A_ROW:
        return JudgedAnswer(place, AnswerEvaluation("unscored", (), _GIVEN_UP), True)
    try:
        return _judge(records, judge, [place])[0]
    except Exception as error:  # one answer must not end the scoring
        said = f"{type(error).__name__}: {error}"[:500]
        return JudgedAnswer(place, AnswerEvaluation("unscored", (), storable(f"{FAILED}: {said}")), True)


def _judge(records: Sequence[AnswerRecord], judge: AnswerJudge, places: Sequence[int]) -> list[JudgedAnswer]:
    verifier = judge.verifier
    said: dict[int, Extraction] = {}
    for i in places:
        if records[i].answer.strip():
            said[i] = verifier.extract(judge.questions[i], records[i].answer)
    asked = [i for i in said if said[i].claims and not judge.missing[i]]
    items = [VerificationItem(judge.questions[i], said[i].claims, records[i].answer) for i in asked]
    found = verifier.verify(items) if items else ()
    if [tuple(v.claim for v in verdicts) for verdicts in found] != [item.claims for item in items]:
        raise EvaluationError("its verdicts do not belong to the claims it was given")
    verdicts = dict(zip(asked, found, strict=True))
    results = []
    for i in places:
        if i not in said:
            results.append(JudgedAnswer(i, AnswerEvaluation("unscored", (), "the answer is empty")))
            continue
        own = verdicts[i] if i in verdicts else _unjudged(said[i].claims, judge.missing[i], verifier.name)
        results.append(
            JudgedAnswer(i, outcome_of(own, said[i].refused, said[i].reason), any(map(verifier_failed, own)))
        )
    return results


def _unjudged(claims: Sequence[Claim], reason: str, verifier: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(claim, "unscored", None, reason, (), verifier) for claim in claims)
