"""Effect of retrieval on a rate: outcomes by rank of the gold passage, and faithfulness compared with factuality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.analysis.arrays import measured_share
from evaluation.outcomes import Outcome
from evaluation.runs.records import SampleRecord
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler
from generation.prompt import PromptChunk

SampleKey = tuple[str, str, str, int]
"""Key of a sample within its run: (question, arm, decoding, sample)."""


@dataclass(frozen=True, slots=True)
class GoldRow:
    """Outcomes of responses by the rank of their best gold passage.

    rank: rank among the chunks shown, from 1; None if no gold passage was shown. hallucinated, supported, abstained:
    shares of these responses.
    """

    rank: int | None
    questions: int
    responses: int
    hallucinated: HallucinationEstimate
    supported: HallucinationEstimate
    abstained: HallucinationEstimate


@dataclass(frozen=True, slots=True)
class FaithfulTable:
    """Answers that were judged twice: faithful to the chunks shown, and factual by the run's verifier.

    judged: number of these responses. unjudged: number of other responses of the arm. both, faithful_only,
    factual_only, neither: shares of the judged responses, which add up to 1. verifier: name of the faithfulness
    verifier.
    """

    judged: int
    unjudged: int
    both: HallucinationEstimate
    faithful_only: HallucinationEstimate
    factual_only: HallucinationEstimate
    neither: HallucinationEstimate
    verifier: str


@dataclass(frozen=True, slots=True)
class RetrievalPart:
    """Effect of retrieval in one arm that retrieves.

    known: number of questions that name a gold passage. shown: number of them whose gold passage was shown. unknown:
    number of questions that name none. rows: outcomes by rank. faithful: None if faithfulness was not judged.
    """

    arm: str
    known: int
    shown: int
    unknown: int
    rows: tuple[GoldRow, ...]
    faithful: FaithfulTable | None


def gold_rank(question: Question, chunks: Sequence[PromptChunk]) -> int | None:
    """Return the number n of the first chunk shown that holds gold evidence; None if there is none.

    A chunk holds gold evidence if it overlaps the question's evidence. For a question without evidence, it must belong
    to a relevant document.
    """
    for chunk in chunks:
        stored_chunk = chunk.retrieved.chunk
        start, end = stored_chunk.start + chunk.start, stored_chunk.start + chunk.end
        if question.evidence:
            spans = (s for s in question.evidence if s.document_id == stored_chunk.document_id)
            if any(s.start < end and start < s.end for s in spans):
                return chunk.number
        elif stored_chunk.document_id in question.relevant_document_ids:
            return chunk.number
    return None


def retrieval_part(
    records: Sequence[SampleRecord],
    arms: Sequence[str],
    questions: Sequence[Question],
    faithful: Mapping[SampleKey, Outcome] | None,
    verifier: str,
    resampler: Resampler,
) -> tuple[RetrievalPart, ...]:
    """Compute the effect of retrieval for each arm that shows retrieved chunks: the built-in rag arm and custom arms.

    faithful: outcome of each answer by its own chunks, as judged by ``verifier``; None if faithfulness was not judged.
    """
    by_id = {q.id: q for q in questions}
    parts = []
    for arm in arms:
        mine = [r for r in records if r.arm == arm and r.completion is not None]
        if arm.split("+")[0] in ("closed_book", "oracle") or not any(r.chunks for r in mine):
            continue
        parts.append(_part(arm, mine, by_id, faithful, verifier, resampler))
    return tuple(parts)


def _part(
    arm: str,
    records: Sequence[SampleRecord],
    questions: Mapping[str, Question],
    faithful: Mapping[SampleKey, Outcome] | None,
    verifier: str,
    resampler: Resampler,
) -> RetrievalPart:
    ranks = {r.question_id: gold_rank(questions[r.question_id], r.chunks) for r in records}
    with_gold = {i for i in ranks if questions[i].evidence or questions[i].relevant_document_ids}
    found = sorted({rank for i, rank in ranks.items() if i in with_gold and rank is not None})
    order: list[int | None] = [*found]
    if any(ranks[i] is None for i in with_gold):
        order.append(None)
    rows = tuple(
        _row(rank, [r for r in records if r.question_id in with_gold and ranks[r.question_id] == rank], resampler)
        for rank in order
    )
    return RetrievalPart(
        arm,
        len(with_gold),
        sum(ranks[i] is not None for i in with_gold),
        len(ranks) - len(with_gold),
        rows,
        _faithful_table(records, faithful, verifier, resampler) if faithful is not None else None,
    )


def _row(rank: int | None, records: Sequence[SampleRecord], resampler: Resampler) -> GoldRow:
    def share(outcome: Outcome) -> HallucinationEstimate:
        return measured_share(
            records, lambda r: True, lambda r: r.evaluation.outcome == outcome, resampler, f"a response {outcome}"
        ).default

    return GoldRow(
        rank,
        len({r.question_id for r in records}),
        len(records),
        share("hallucinated"),
        share("supported"),
        share("abstained"),
    )


def _faithful_table(
    records: Sequence[SampleRecord], faithful: Mapping[SampleKey, Outcome], verifier: str, resampler: Resampler
) -> FaithfulTable:
    scored = ("supported", "hallucinated")

    def by_chunks(record: SampleRecord) -> Outcome | None:
        return faithful.get((record.question_id, record.arm, record.decoding, record.sample))

    def judged(record: SampleRecord) -> bool:
        return record.evaluation.outcome in scored and by_chunks(record) in scored

    def share(is_faithful: bool, is_factual: bool, name: str) -> HallucinationEstimate:
        return measured_share(
            records,
            judged,
            lambda r: (
                (by_chunks(r) == "supported") == is_faithful and (r.evaluation.outcome == "supported") == is_factual
            ),
            resampler,
            f"an answer that is {name}",
        ).default

    count = sum(judged(r) for r in records)
    return FaithfulTable(
        count,
        len(records) - count,
        share(True, True, "faithful and factual"),
        share(True, False, "faithful and not factual"),
        share(False, True, "factual and not faithful"),
        share(False, False, "neither"),
        verifier,
    )
