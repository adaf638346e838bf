"""Judge the claims of a stored run by gold passages and by retrieved evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.errors import AppError, UsageError
from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline
from app.retrieval.passages import Passages
from data.questions import Question
from evaluation.analysis.faithfulness import faithful_outcomes
from evaluation.analysis.gold_judging import FETCHED, GOLD, judge_by_both, names_gold, two_sources
from evaluation.analysis.gold_rates import BothOutcomes
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.entailment import THRESHOLD, reads_claims_together
from evaluation.verifiers.evidence import DEFAULT_K, GoldEvidence, SearchedEvidence


def judge_gold(
    pipeline: Pipeline,
    info: RunInfo,
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Judge the claims without stored verdicts against the trusted collection of the run, or else the searched one.

    Raises UsageError if there is no such collection or no question names a gold passage. Raises AppError if the
    collection was indexed again since the run. Also raises the errors of opening it, loading the scorer and scoring.
    """
    labels = dict(info.labels)
    name = labels.get("trusted") or labels.get("collection")
    if not name:
        raise UsageError(
            f"--gold-evidence: run {info.id} searched no collection and trusted none, so there are no passages to "
            "judge by: evaluate again with --collection NAME and an arm that searches"
        )
    if not any(map(names_gold, questions)):
        raise UsageError(
            f"--gold-evidence: no question of run {info.id} names its gold passage: give the questions evidence or "
            "relevant_document_ids"
        )
    search = pipeline.search(name)  # with the collection's search settings, which the arms may have overridden
    generation = search.retriever.generation_hash
    then = labels.get("trusted generation") or info.config.generation
    if then and then != generation:
        raise AppError(
            f"--gold-evidence: the collection {name} was indexed again since run {info.id}, and holds other "
            "passages now: index its former documents, or evaluate again"
        )
    scorer = CachedScorer(load_scorer(labels.get("verifier model") or None, pipeline.device))
    threshold, k = float(labels.get("threshold", THRESHOLD)), int(labels.get("evidence k", DEFAULT_K))
    passages = Passages(search.retriever)
    fetched = SearchedEvidence(search, generation, k, search.non_default_settings)
    sources = two_sources(
        scorer,
        threshold,
        GoldEvidence(passages, search, k),
        fetched,
        passages,
        together=reads_claims_together(info.config.verifier),
    )
    judge_by_both(info.id, samples, questions, sources, store, progress)


def gold_outcomes(info: RunInfo, store: ExtraVerdicts) -> BothOutcomes | None:
    """Return the stored outcomes by both sources of evidence; None if there are none."""
    names = store.verifiers(info.id)
    fetched = next((n for n in names if n.startswith(FETCHED)), None)
    gold = next((n for n in names if n.startswith(GOLD)), None)
    if fetched is None or gold is None:
        return None
    return BothOutcomes(
        faithful_outcomes(store.load(info.id, fetched)),
        faithful_outcomes(store.load(info.id, gold)),
        fetched.removeprefix(FETCHED),
        gold.removeprefix(GOLD),
    )
