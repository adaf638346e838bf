"""Judging a run's claims by two sources of evidence: what a search fetches for the claim, and the gold passages.

Arms are compared by evidence that is fetched by the claim. A search that finds the passage which misled the answer errs
for retriever and verifier alike and flatters the arm that retrieves; the same claims by the question's gold passages,
read by the same scorer, show how much. Verdicts are stored beside the run's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.analysis.faithfulness import AT_ONCE, key_of
from evaluation.evidence.passages import PassageSource, gold_chunks
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import GoldEvidence, SearchedEvidence
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import PairScorer

FETCHED, GOLD = "fetched | ", "gold | "
"""How the names begin under which the verdicts are stored."""


@dataclass(frozen=True, slots=True)
class TwoEvidenceSources:
    """One scorer, threshold and k over two sources of evidence."""

    fetched: EntailmentVerifier
    gold: EntailmentVerifier
    source: PassageSource

    @property
    def fetched_name(self) -> str:
        """Under which verdicts by fetched evidence are stored."""
        return f"{FETCHED}{self.fetched.name}"

    @property
    def gold_name(self) -> str:
        """Under which verdicts by gold passages are stored."""
        return f"{GOLD}{self.gold.name}"


def two_sources(
    scorer: PairScorer,
    threshold: float,
    gold: GoldEvidence,
    fetched: SearchedEvidence,
    source: PassageSource,
    *,
    together: bool = False,
) -> TwoEvidenceSources:
    """Both verifiers over one collection; source: its passages. together: as of EntailmentVerifier, as in the run.

    Raises EvaluationError as EntailmentVerifier does."""
    return TwoEvidenceSources(
        EntailmentVerifier(scorer, fetched, threshold, together=together),
        EntailmentVerifier(scorer, gold, threshold, together=together),
        source,
    )


def names_gold(question: Question) -> bool:
    """Whether a question says where its answer stands. (One that nothing answers names what comes closest: no gold.)"""
    return question.answerable and bool(question.evidence or question.relevant_document_ids)


def judge_by_both(
    run_id: str,
    records: Sequence[SampleRecord],
    questions: Sequence[Question],
    sources: TwoEvidenceSources,
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Judge every claim of questions whose gold passages the collection holds, by both sources, and store the verdicts.

    What is stored already is not judged again. progress: called with (done, all) cells. Raises what search and scorer
    raise; what was committed stays.
    """
    held = {q.id: q for q in questions if names_gold(q) and gold_chunks(q, sources.source)}
    both = ((sources.fetched_name, sources.fetched), (sources.gold_name, sources.gold))
    known = [store.load(run_id, name).keys() for name, _ in both]
    cells: dict[tuple[str, str], list[SampleRecord]] = {}
    for record in records:
        if record.question_id in held and record.completion is not None and record.evaluation.verdicts:
            cells.setdefault((record.question_id, record.arm), []).append(record)
    pending = [cell for cell in cells.values() if any(key_of(r) not in have for r in cell for have in known)]
    for start in range(0, len(pending), AT_ONCE):
        batch = [record for cell in pending[start : start + AT_ONCE] for record in cell]
        for (name, verifier), have in zip(both, known, strict=True):
            _judge(run_id, [r for r in batch if key_of(r) not in have], held, name, verifier, store)
        if progress is not None:
            progress(min(start + AT_ONCE, len(pending)), len(pending))


def _judge(
    run_id: str,
    records: Collection[SampleRecord],
    questions: dict[str, Question],
    name: str,
    verifier: EntailmentVerifier,
    store: ExtraVerdicts,
) -> None:
    items = [
        # The claims as the run's verifier read them: what is compared is evidence, not reading.
        VerificationItem(
            questions[r.question_id],
            tuple(v.claim for v in r.evaluation.verdicts),
            r.completion.text if r.completion else "",
        )
        for r in records
    ]
    found = verifier.verify(items)
    store.save(run_id, name, [(key_of(r), v) for r, v in zip(records, found, strict=True)])
