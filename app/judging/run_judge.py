"""Open the judge of a run: references, entailment against a trusted collection, or another verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from app.errors import AppError
from app.judging.verifier_sources import VerifierSource, open_fact_verifier, open_label_verifier, open_language_judge
from app.pipeline import Pipeline
from app.retrieval.passages import Passages
from data.questions import Question
from evaluation.runs.run_store import RunInfo
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.entailment import THRESHOLD, EntailmentVerifier
from evaluation.verifiers.evidence import DEFAULT_K, GoldEvidence, GoldOrSearchedEvidence, SearchedEvidence
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier, judged_by_entailment
from evaluation.verifiers.verifier import Verifier
from model.pairs.scoring import PairScorer, answer_tokens

VerifierChoice = Literal["auto", "reference", "entailment", "facts", "judge", "labels"]
ScorerLoader = Callable[[str | Path | None, str], PairScorer]


@dataclass(frozen=True, slots=True)
class VerifierPlan:
    """Settings with which the answers of a run are judged.

    choice: the verifier. "auto" takes references for questions that have some, and the trusted collection for all other
    statements.
    model: entailment scorer, named as in ``model eval``; None for the shipped one.
    trusted: collection whose documents are the evidence; None for the searched one.
    threshold: minimum support of a supported claim.
    k: number of chunks retrieved for a claim.
    source: settings of other verifiers.

    Raises AppError for an unknown choice.
    """

    choice: VerifierChoice = "auto"
    model: str | Path | None = None
    trusted: str | None = None
    threshold: float = THRESHOLD
    k: int = DEFAULT_K
    source: VerifierSource = field(default_factory=VerifierSource)

    def __post_init__(self) -> None:
        if self.choice not in get_args(VerifierChoice):
            known = ", ".join(get_args(VerifierChoice))
            raise AppError(f"there is no verifier {self.choice!r}: choose from {known}", parameter="verifier")


@dataclass(frozen=True, slots=True)
class Judge:
    """The verifier of a run.

    entailment: the part that judges by entailment; None if there is none. labels: trusted collection and settings,
    which are stored with the run for its report.
    """

    verifier: Verifier
    entailment: EntailmentVerifier | None = None
    labels: tuple[tuple[str, str], ...] = ()


def load_scorer(name: str | Path | None, device: str) -> PairScorer:
    """Load the entailment scorer of this name, or the shipped one for None. Raises AppError or ModelError."""
    from app.judging.scorers import load_scorer as load

    return load(None if name is None else str(name), device)


def open_judge(
    pipeline: Pipeline,
    plan: VerifierPlan,
    questions: Sequence[Question],
    collection: str | None,
    load: ScorerLoader | None = None,
) -> Judge:
    """Open the judge for answers to these questions.

    collection: name of the searched collection; None if there is none. load: function that loads a scorer; called only
    if the judge needs one. Raises AppError if there is no trusted collection, and the errors of opening it and of
    loading the scorer.
    """
    if plan.choice == "facts":
        return Judge(open_fact_verifier(plan.source))
    if plan.choice == "labels":
        return Judge(open_label_verifier(plan.source))
    bare = sum(not q.references for q in questions)
    if plan.choice == "reference":
        return Judge(ReferenceVerifier())
    try:
        name = pipeline.collection_name(plan.trusted or collection)
    except AppError as error:
        unanswerable = sum(not q.references and not q.answerable for q in questions)
        if plan.choice == "auto" and not plan.trusted and bare == unanswerable:
            # Without documents, references judge, and answers to questions without references are unscored.
            return Judge(ReferenceVerifier())
        raise AppError(
            f"{bare} of {len(questions)} questions have no reference answer, and {_verifier(plan)} needs the documents "
            f"of a trusted collection (the verifier reference leaves such questions unscored): {error}",
            parameter="trusted",
        ) from error
    search = pipeline.search(name)  # with the collection's search settings, which the arm may override
    retriever = search.retriever
    evidence = GoldOrSearchedEvidence(
        GoldEvidence(Passages(retriever), search, plan.k),
        SearchedEvidence(search, retriever.generation_hash, plan.k, search.non_default_settings),
    )
    labels = (
        ("trusted", name),
        ("trusted generation", retriever.generation_hash),
        *_labels(plan),
    )
    if plan.choice == "judge":
        judge = open_language_judge(plan.source, evidence, plan.threshold, pipeline.device, pipeline.home)
        return Judge(judge, None, labels)
    scorer = _scorer(pipeline, plan, load)
    split = plan.source.split
    # If every question has references, claims are judged together only if the scorer supports it.
    together = bool(plan.source.together) and (bare > 0 or plan.choice != "auto" or answer_tokens(scorer) > 0)
    entailment = EntailmentVerifier(scorer, evidence, plan.threshold, split=split, together=together)
    verifier: Verifier = entailment
    if plan.choice == "auto":
        verifier = RoutedVerifier(ReferenceVerifier(), entailment)
    return Judge(verifier, entailment, labels)


def _scorer(pipeline: Pipeline, plan: VerifierPlan, load: ScorerLoader | None) -> PairScorer:
    return CachedScorer((load or load_scorer)(plan.model, pipeline.device))


def _labels(plan: VerifierPlan) -> tuple[tuple[str, str], ...]:
    """Return the settings that ``reopen_judge`` needs, as labels of the run."""
    return (
        ("threshold", repr(plan.threshold)),
        ("verifier model", str(plan.model or "")),
        ("evidence k", str(plan.k)),
        ("split claims", "yes" if plan.source.split else ""),
        ("claims together", "yes" if plan.source.together else ""),
    )


def _verifier(plan: VerifierPlan) -> str:
    return "a language-model judge" if plan.choice == "judge" else "entailment"


def reopen_judge(
    pipeline: Pipeline, info: RunInfo, questions: Sequence[Question], load: ScorerLoader | None = None
) -> Judge | None:
    """Open the judge of a stored run for further analysis of its verdicts. Return None if entailment judged no answer.

    Raises AppError if the collection or the scorer has changed, and the errors of opening and loading them.
    """
    if not any(judged_by_entailment(info.config.verifier, q) for q in questions):
        return None
    labels = dict(info.labels)
    plan = VerifierPlan(
        "entailment" if info.config.verifier.startswith("entailment/") else "auto",
        labels.get("verifier model") or None,
        labels.get("trusted") or None,
        float(labels.get("threshold", THRESHOLD)),
        int(labels.get("evidence k", DEFAULT_K)),
        VerifierSource(split=bool(labels.get("split claims")), together=bool(labels.get("claims together"))),
    )
    judge = open_judge(pipeline, plan, questions, None, load)
    if judge.verifier.name != info.config.verifier:
        raise AppError(
            f"run {info.id} was judged by {info.config.verifier}, but the verifier now is {judge.verifier.name}"
        )
    return judge
