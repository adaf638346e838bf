"""How well a verifier tells supported from hallucinated: on pair files, and on responses with marked spans."""

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
from evaluation.verifiers.failing_words import Weakness, weak_words
from model.pairs.scoring import PairScorer

_MARKED_AT_ONCE = 32  # claims, each of up to 24 pairs
_EMPTY = ClaimSupport(None, reason="the response makes no claim")


@dataclass(frozen=True, slots=True)
class VerifierReport:
    """A verifier's figures on one file. abstained: responses that decline, taken as supported: they claim nothing.

    pairs_per_second: pairs of evidence window and claim; pairs: how many were scored. spans: characters of the
    sentences below the threshold against those that people marked, None for pair files. word_spans: of the weak words
    of those sentences, the whole sentence where it has none; None where they were not looked for.
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
    """Each claim against the windows of its evidence; resampled by PairExample.group.

    A claim of several sentences is as good as its worst one, as a response is; together: as in ``claim_supports``.
    Claims and evidence without any text are unscored. Raises ModelError as the scorer does.
    """
    statements = [Statement(e.evidence, _sentences(e.claim), e.question) for e in examples]
    found = claim_supports(scorer, statements, progress, together=together)
    judged = []
    for example, supports in zip(examples, found.claims, strict=True):
        whole = worst(supports)
        judged.append(ScoredStatement(whole.support, example.supported, example.group, example.source, whole.reason))
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
    """Each response's support is its worst sentence's, a sentence's its best window's; resampled by source_id.

    together: as in ``claim_supports``, the sentences of a response.

    A response that declines has support 1: it claims nothing, and an abstention is no hallucination
    (docs/architecture.md, rule 2). One that says nothing at all is unscored. Where a sentence could not be scored, the
    response is hallucinated if another is below the threshold, else unscored. words: also look for the words that lower
    the score of such sentences (up to 24 more pairs each); marking is called with (sentences done, all). Raises as
    score_pairs.
    """
    extracted = [extract_sentences(response.text) for response in responses]
    statements = [
        Statement(r.evidence, tuple(plain_claim_text(c.text) for c in e.claims), r.question)
        for r, e in zip(responses, extracted, strict=True)
    ]
    found = claim_supports(scorer, statements, progress, together=together)
    judged: list[ScoredStatement] = []
    low: list[tuple[Weakness, ...] | None] = []
    for response, extraction, supports in zip(responses, extracted, found.claims, strict=True):
        whole = ClaimSupport(1.0) if extraction.refused else worst(supports)
        judged.append(
            ScoredStatement(whole.support, not response.hallucinated, response.source_id, response.task, whole.reason)
        )
        weak = tuple(
            Weakness(claim, support.window, response.question, support.support, response.evidence, support.answer)
            for claim, support in zip(extraction.claims, supports, strict=True)
            if support.support is not None and support.support < THRESHOLD
        )
        low.append(None if whole.support is None else weak)
    return VerifierReport(
        detection_table(judged, seed),
        sum(e.refused for e in extracted),
        *_speed(found.blocks, seed),
        spans=_spans(responses, low, lambda weakness: ((weakness.claim.start, weakness.claim.end),)),
        word_spans=_spans(responses, low, _weak_spans(scorer, low, marking)) if words else None,
    )


def _sentences(claim: str) -> tuple[str, ...]:
    """What is scored of a labelled claim: its sentences, or all of it where it has one or none that claims anything."""
    claims = extract_sentences(claim).claims
    return tuple(plain_claim_text(c.text) for c in claims) if len(claims) > 1 else (claim,)


def _spans(
    responses: Sequence[RagResponse],
    low: Sequence[tuple[Weakness, ...] | None],
    marked: Callable[[Weakness], tuple[tuple[int, int], ...]],
) -> SpanScores:
    """The figures of what is marked in the low sentences of each scored response."""
    texts = [
        MarkedText(len(r.text), tuple(span for w in weak for span in marked(w)), r.spans, r.source_id)
        for r, weak in zip(responses, low, strict=True)
        if weak is not None
    ]
    return span_scores(texts)


def _weak_spans(
    scorer: PairScorer,
    low: Sequence[tuple[Weakness, ...] | None],
    marking: Callable[[int, int], None] | None,
) -> Callable[[Weakness], tuple[tuple[int, int], ...]]:
    distinct = list(dict.fromkeys(w for weak in low for w in weak or ()))
    found: dict[Weakness, tuple[tuple[int, int], ...]] = {}
    for start in range(0, len(distinct), _MARKED_AT_ONCE):
        batch = distinct[start : start + _MARKED_AT_ONCE]
        for weakness, weak in zip(batch, weak_words(scorer, batch), strict=True):
            found[weakness] = tuple((word.start, word.end) for word in weak) or (
                (weakness.claim.start, weakness.claim.end),
            )
        if marking is not None:
            marking(len(found), len(distinct))
    return found.__getitem__


def worst(supports: Sequence[ClaimSupport]) -> ClaimSupport:
    """The lowest support of a response's claims; unscored if a claim is and no other is below the threshold."""
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
