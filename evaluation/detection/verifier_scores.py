"""Evaluation of a verifier on pair files and on responses with marked spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data.pairs import PairExample
from data.ragtruth import RagResponse
from evaluation.claims.sentences import extract_sentences, plain_claim_text
from evaluation.detection.intervals import ScoreEstimate, rate_estimate
from evaluation.detection.metrics import THRESHOLD
from evaluation.detection.scores import DetectionTable, ScoredStatement, detection_table
from evaluation.detection.spans import MarkedText, SpanScores, span_scores
from evaluation.detection.support import ClaimSupport, ScoredBlock, Statement, SupportProgress, claim_supports
from evaluation.verifiers.failing_words import WeakClaim, weak_words
from model.pairs.scoring import PairScorer

_MARKING_BATCH = 32  # claims, each of up to 24 pairs
_EMPTY = ClaimSupport(None, reason="the response makes no claim")


@dataclass(frozen=True, slots=True)
class VerifierReport:
    """Metrics of a verifier on one file.

    abstained: number of responses that decline; they count as supported.
    pairs: number of scored pairs of evidence window and claim. pairs_per_second: speed of the scoring.
    spans: characters of the sentences below the threshold compared with those that annotators marked; None for pair
    files.
    word_spans: the same for the weak words of those sentences, or the entire sentence if it has none; None if not
    computed.
    """

    table: DetectionTable
    abstained: int
    pairs: int
    pairs_per_second: ScoreEstimate
    spans: SpanScores | None = None
    word_spans: SpanScores | None = None


Progress = Callable[[SupportProgress], None]


def score_pairs(
    scorer: PairScorer,
    examples: Sequence[PairExample],
    *,
    together: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> VerifierReport:
    """Score each claim against the windows of its evidence; metrics are resampled by PairExample.group.

    A claim of several sentences takes the support of its worst sentence, as a response does. together: as in
    ``claim_supports``. Claims and evidence without text are unscored. Raises ModelError as the scorer does.
    """
    statements = [Statement(e.evidence, _sentences(e.claim), e.question) for e in examples]
    found = claim_supports(scorer, statements, progress, together=together)
    judged = []
    for example, supports in zip(examples, found.claims, strict=True):
        overall = worst_support(supports)
        judged.append(
            ScoredStatement(overall.support, example.supported, example.group, example.source, overall.reason)
        )
    return VerifierReport(detection_table(judged, seed), 0, *_speed(found.blocks, seed))


def score_responses(
    scorer: PairScorer,
    responses: Sequence[RagResponse],
    *,
    together: bool = True,
    seed: int = 0,
    words: bool = False,
    progress: Progress | None = None,
    marking: Callable[[int, int], None] | None = None,
) -> VerifierReport:
    """Score responses; metrics are resampled by source_id. A response's support is that of its worst sentence.

    together: as in ``claim_supports``, for the sentences of a response. words: whether to find the words that lower the
    score of sentences below the threshold (up to 24 more pairs each). marking: called with (sentences done, total).

    A response that declines has support 1: it claims nothing, and an abstention is not a hallucination
    (docs/architecture.md, rule 2). An empty response is unscored. If a sentence could not be scored, the response is
    hallucinated if another is below the threshold, else unscored. Raises as score_pairs.
    """
    extracted = [extract_sentences(response.text) for response in responses]
    statements = [
        Statement(r.evidence, tuple(plain_claim_text(c.text) for c in e.claims), r.question)
        for r, e in zip(responses, extracted, strict=True)
    ]
    found = claim_supports(scorer, statements, progress, together=together)
    judged: list[ScoredStatement] = []
    low: list[tuple[WeakClaim, ...] | None] = []
    for response, extraction, supports in zip(responses, extracted, found.claims, strict=True):
        overall = ClaimSupport(1.0) if extraction.refused else worst_support(supports)
        judged.append(
            ScoredStatement(
                overall.support, not response.hallucinated, response.source_id, response.task, overall.reason
            )
        )
        weak = tuple(
            WeakClaim(claim, support.window, response.question, support.support, response.evidence, support.answer)
            for claim, support in zip(extraction.claims, supports, strict=True)
            if support.support is not None and support.support < THRESHOLD
        )
        low.append(None if overall.support is None else weak)
    return VerifierReport(
        detection_table(judged, seed),
        sum(e.refused for e in extracted),
        *_speed(found.blocks, seed),
        spans=_spans(responses, low, lambda weakness: ((weakness.claim.start, weakness.claim.end),)),
        word_spans=_spans(responses, low, _weak_spans(scorer, low, marking)) if words else None,
    )


def _sentences(claim: str) -> tuple[str, ...]:
    """Return the sentences of a labelled claim, or the entire claim if at most one sentence claims anything."""
    claims = extract_sentences(claim).claims
    return tuple(plain_claim_text(c.text) for c in claims) if len(claims) > 1 else (claim,)


def _spans(
    responses: Sequence[RagResponse],
    low: Sequence[tuple[WeakClaim, ...] | None],
    marked: Callable[[WeakClaim], tuple[tuple[int, int], ...]],
) -> SpanScores:
    """Compute the metrics of the marked spans in the sentences below the threshold."""
    texts = [
        MarkedText(len(r.text), tuple(span for w in weak for span in marked(w)), r.spans, r.source_id)
        for r, weak in zip(responses, low, strict=True)
        if weak is not None
    ]
    return span_scores(texts)


def _weak_spans(
    scorer: PairScorer,
    low: Sequence[tuple[WeakClaim, ...] | None],
    marking: Callable[[int, int], None] | None,
) -> Callable[[WeakClaim], tuple[tuple[int, int], ...]]:
    distinct = list(dict.fromkeys(w for weak in low for w in weak or ()))
    found: dict[WeakClaim, tuple[tuple[int, int], ...]] = {}
    for start in range(0, len(distinct), _MARKING_BATCH):
        batch = distinct[start : start + _MARKING_BATCH]
        for weakness, weak in zip(batch, weak_words(scorer, batch), strict=True):
            found[weakness] = tuple((word.start, word.end) for word in weak) or (
                (weakness.claim.start, weakness.claim.end),
            )
        if marking is not None:
            marking(len(found), len(distinct))
    return found.__getitem__


def worst_support(supports: Sequence[ClaimSupport]) -> ClaimSupport:
    """Return the lowest support of a response's claims.

    Unscored if a claim is unscored and no other is below the threshold.
    """
    if not supports:
        return _EMPTY
    scored = [s for s in supports if s.support is not None]
    lowest = min(scored, key=lambda s: s.support or 0.0, default=None)
    if len(scored) == len(supports) or (lowest is not None and (lowest.support or 0.0) < THRESHOLD):
        return lowest or _EMPTY
    return next(s for s in supports if s.support is None)


def _speed(blocks: Sequence[ScoredBlock], seed: int) -> tuple[int, ScoreEstimate]:
    counts = [block.pairs for block in blocks]
    return sum(counts), rate_estimate(counts, [block.seconds for block in blocks], "pairs", seed)
