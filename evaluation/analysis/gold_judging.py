"""Verdicts on a run's claims by two sources of evidence: passages retrieved for the claim, and gold passages.

Arms are compared by evidence that is retrieved for each claim. If that search returns the passage that misled the
answer, retriever and verifier err alike, which favours the arm that retrieves. Judging the same claims by the
question's gold passages, with the same scorer, shows the size of this effect. The verdicts are stored in addition to
the run's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.analysis.faithfulness import BATCH_SIZE, key_of
from evaluation.evidence.passages import PassageSource, gold_chunks
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import GoldEvidence, SearchedEvidence
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import PairScorer

FETCHED, GOLD = "fetched | ", "gold | "
"""Prefixes of the verifier names under which the verdicts are stored."""


@dataclass(frozen=True, slots=True)
class TwoEvidenceSources:
    """Two verifiers with the same scorer, threshold and k, and different sources of evidence.

    source: passages of the collection.
    """

    fetched: EntailmentVerifier
    gold: EntailmentVerifier
    source: PassageSource

    @property
    def fetched_name(self) -> str:
        """Verifier name of the verdicts by retrieved evidence."""
        return f"{FETCHED}{self.fetched.name}"

    @property
    def gold_name(self) -> str:
        """Verifier name of the verdicts by gold passages."""
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
    """Create both verifiers over one collection.

    source: passages of the collection. together: as in EntailmentVerifier and the run. Raises EvaluationError as
    EntailmentVerifier does.
    """
    return TwoEvidenceSources(
        EntailmentVerifier(scorer, fetched, threshold, together=together),
        EntailmentVerifier(scorer, gold, threshold, together=together),
        source,
    )


def names_gold(question: Question) -> bool:
    """Return whether a question names its gold evidence.

    An unanswerable question names only the closest passages, which are not gold.
    """
    return question.answerable and bool(question.evidence or question.relevant_document_ids)


def judge_by_both(
    run_id: str,
    records: Sequence[SampleRecord],
    questions: Sequence[Question],
    sources: TwoEvidenceSources,
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Judge each claim by both sources and store the verdicts, for questions with gold passages in the collection.

    Claims with stored verdicts are not judged again. progress: called with (done, total) numbers of cells. Raises the
    errors of search and scorer; verdicts that were committed remain.
    """
    with_gold = {q.id: q for q in questions if names_gold(q) and gold_chunks(q, sources.source)}
    both = ((sources.fetched_name, sources.fetched), (sources.gold_name, sources.gold))
    known = [store.load(run_id, name).keys() for name, _ in both]
    cells: dict[tuple[str, str], list[SampleRecord]] = {}
    for record in records:
        if record.question_id in with_gold and record.completion is not None and record.evaluation.verdicts:
            cells.setdefault((record.question_id, record.arm), []).append(record)
    pending = [cell for cell in cells.values() if any(key_of(r) not in have for r in cell for have in known)]
    for start in range(0, len(pending), BATCH_SIZE):
        batch = [record for cell in pending[start : start + BATCH_SIZE] for record in cell]
        for (name, verifier), have in zip(both, known, strict=True):
            _judge(run_id, [r for r in batch if key_of(r) not in have], with_gold, name, verifier, store)
        if progress is not None:
            progress(min(start + BATCH_SIZE, len(pending)), len(pending))


def _judge(
    run_id: str,
    records: Collection[SampleRecord],
    questions: dict[str, Question],
    name: str,
    verifier: EntailmentVerifier,
    store: ExtraVerdicts,
) -> None:
    items = [
        # The claims are those that the run's verifier read, so that only the evidence differs.
        VerificationItem(
            questions[r.question_id],
            tuple(v.claim for v in r.evaluation.verdicts),
            r.completion.text if r.completion else "",
        )
        for r in records
    ]
    found = verifier.verify(items)
    store.save(run_id, name, [(key_of(r), v) for r, v in zip(records, found, strict=True)])
