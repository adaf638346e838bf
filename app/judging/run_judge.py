"""Which verifier judges a run, wired: references, entailment against a trusted collection, or each where it applies."""

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
    """How answers are judged. choice: "auto" takes references for the answer where a question has some, and the trusted
    collection for all else that is said.

    model: the entailment scorer, as ``model eval`` names it, None for the shipped one. trusted: collection whose
    documents count as truth, None for the one that is searched. threshold: support from which a claim is supported. k:
    chunks looked at. source: what other verifiers judge by.
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
    """A run's verifier. entailment: the part of it that judges by entailment, None where no question needs it.

    labels: what a report needs to know of the trusted collection, for RunStore.
    """

    verifier: Verifier
    entailment: EntailmentVerifier | None = None
    labels: tuple[tuple[str, str], ...] = ()


def load_scorer(name: str | Path | None, device: str) -> PairScorer:
    """The entailment scorer of a name, or the shipped one. Raises AppError and ModelError as loading it does."""
    from app.judging.answer_judge import load_scorer as load

    return load(None if name is None else str(name), device)


def open_judge(
    pipeline: Pipeline,
    plan: VerifierPlan,
    questions: Sequence[Question],
    collection: str | None,
    load: ScorerLoader | None = None,
) -> Judge:
    """The verifier for these questions. collection: the one that is searched, None when nothing is. load: of a scorer.

    Nothing is loaded when references are all that is needed. Raises AppError when there is no trusted collection, and
    what opening it and loading the scorer raise.
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
            return Judge(ReferenceVerifier())  # no documents to search: references judge, what has none is unscored
        raise AppError(
            f"{bare} of {len(questions)} questions have no reference answer, and {_called(plan)} by the documents of "
            f"a trusted collection (the verifier reference leaves such questions unscored): {error}",
            parameter="trusted",
        ) from error
    search = pipeline.search(name)  # as the collection is searched, whatever the arm does
    retriever = search.retriever
    evidence = GoldOrSearchedEvidence(
        GoldEvidence(Passages(retriever), search, plan.k),
        SearchedEvidence(search, retriever.generation_hash, plan.k, search.departures),
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
    # Where references judge every answer, a scorer that reads claims alone judges what else is said.
    together = bool(plan.source.together) and (bare > 0 or plan.choice != "auto" or answer_tokens(scorer) > 0)
    entailment = EntailmentVerifier(scorer, evidence, plan.threshold, split=split, together=together)
    verifier: Verifier = entailment
    if plan.choice == "auto":
        verifier = RoutedVerifier(ReferenceVerifier(), entailment)
    return Judge(verifier, entailment, labels)


def _scorer(pipeline: Pipeline, plan: VerifierPlan, load: ScorerLoader | None) -> PairScorer:
    return CachedScorer((load or load_scorer)(plan.model, pipeline.device))


def _labels(plan: VerifierPlan) -> tuple[tuple[str, str], ...]:
    """How entailment judges, for whoever opens the run again."""
    return (
        ("threshold", repr(plan.threshold)),
        ("verifier model", str(plan.model or "")),
        ("evidence k", str(plan.k)),
        ("split claims", "yes" if plan.source.split else ""),
        ("claims together", "yes" if plan.source.together else ""),
    )


def _called(plan: VerifierPlan) -> str:
    return "a judge goes" if plan.choice == "judge" else "entailment judges"


def reopen_judge(
    pipeline: Pipeline, info: RunInfo, questions: Sequence[Question], load: ScorerLoader | None = None
) -> Judge | None:
    """The judge of a stored run, to look closer at its verdicts; None when the run needs none.

    Raises AppError when collection or scorer are no longer the same, and what opening and loading them raise.
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
        raise AppError(f"run {info.id} was judged by {info.config.verifier}, which is now {judge.verifier.name}")
    return judge
