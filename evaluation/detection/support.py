"""Support of claims by long evidence: the evidence is cut into windows, and each claim takes its best window.

This works for any PairScorer. Windows are created lazily and scored in blocks, so evidence of any length needs the
memory of one block. If the scorer can, it reads the claims of one statement together.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evaluation.claims.answer_parts import ROOM_STEP, answer_parts
from evaluation.evidence.rendering import read_evidence
from evaluation.evidence.windows import Window, evidence_windows
from model.pairs.scoring import Pair, PairScorer, answer_tokens
from model.verifier.tokens import MAX_CLAIM_TOKENS

_CACHED_EVIDENCE = 256
_SMALLEST_BLOCK, _LARGEST_BLOCK, _BLOCKS = 4, 1024, 20


@dataclass(frozen=True, slots=True)
class Statement:
    """Claims of one text that share the same evidence. question: question that they answer; may be empty."""

    evidence: str
    claims: tuple[str, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """Support of one claim.

    support: support by the best window, in [0, 1]; None if the claim is unscored, and ``reason`` says why. window: text
    of the best window, empty if there is none. answer: claims that were read together with this one in that window.
    """

    support: float | None
    window: str = ""
    reason: str = ""
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """Timing of one scored block.

    pairs: number of pairs of window and claim in the block. seconds: wall time, including tokenisation.
    """

    pairs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SupportResult:
    """Result of ``claim_supports``.

    claims: for each statement, in order, the support of each of its claims. blocks: timings of the scoring.
    """

    claims: tuple[tuple[ClaimSupport, ...], ...]
    blocks: tuple[ScoredBlock, ...]


@dataclass(frozen=True, slots=True)
class SupportProgress:
    """Progress of ``claim_supports``.

    statements: number of statements with all windows scored or in the current block. total: number of statements.
    pairs: number of pairs scored so far.
    """

    statements: int
    total: int
    pairs: int


@dataclass(frozen=True, slots=True)
class _Job:
    """A pair to score: a window, and a claim or a part of a claim that is longer than the scorer reads.

    statement, claim, part: indices.
    """

    statement: int
    claim: int
    part: int
    pair: Pair


def claim_supports(
    scorer: PairScorer,
    statements: Sequence[Statement],
    progress: Callable[[SupportProgress], None] | None = None,
    *,
    together: bool = True,
) -> SupportResult:
    """Score every claim with every window of its evidence. A claim's support is that of its best window.

    A claim longer than MAX_CLAIM_TOKENS is split into parts and takes the support of its worst part. together: whether
    neighbouring claims of a statement are read together if the scorer supports it (``answer_tokens``).

    A claim without a letter or digit, empty evidence, and a score that is not a number in [0, 1] leave the claim
    unscored with a reason. The first pair is scored once beforehand, without timing, because libraries initialise on
    first use. Raises ModelError as the scorer does.
    """
    best: list[list[ClaimSupport | None]] = [[_unscorable(s, claim) for claim in s.claims] for s in statements]
    found: dict[tuple[int, int, int], ClaimSupport] = {}
    size = max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, sum(map(len, best)) // _BLOCKS))
    jobs = _jobs(scorer, statements, best, answer_tokens(scorer) if together else 0)
    blocks: list[ScoredBlock] = []
    pairs = 0
    while block := list(islice(jobs, size)):
        if not blocks:
            scorer.score([block[0].pair])
        reached, before = block[-1].statement, pairs

        def scored(done: int, _: int, reached: int = reached, before: int = before) -> None:
            if progress is not None:
                progress(SupportProgress(reached, len(statements), before + done))

        started = time.perf_counter()
        scores = scorer.score([job.pair for job in block], scored)
        blocks.append(ScoredBlock(len(block), time.perf_counter() - started))
        pairs += len(block)
        for job, score in zip(block, scores, strict=True):
            key = (job.statement, job.claim, job.part)
            found[key] = _better_window(found.get(key), score, job.pair, scorer.name)
    if progress is not None:
        progress(SupportProgress(len(statements), len(statements), pairs))
    for (statement, claim, _), part in found.items():
        best[statement][claim] = _worse_part(best[statement][claim], part)
    nothing = ClaimSupport(None, reason="the evidence is empty")
    return SupportResult(tuple(tuple(c or nothing for c in row) for row in best), tuple(blocks))


def _unscorable(statement: Statement, claim: str) -> ClaimSupport | None:
    if not any(character.isalnum() for character in claim):
        return ClaimSupport(None, reason="the claim has no letter and no digit")
    if not statement.evidence.strip():
        return ClaimSupport(None, reason="the evidence is empty")
    return None


def _jobs(
    scorer: PairScorer, statements: Sequence[Statement], best: Sequence[Sequence[ClaimSupport | None]], max_tokens: int
) -> Iterator[_Job]:
    cached: OrderedDict[tuple[str, int], tuple[Window, ...]] = OrderedDict()

    def cut(evidence: str, room: int) -> tuple[Window, ...]:
        # The size is rounded so that claims of nearly the same length share the windows of recurring evidence.
        key = (evidence, room - room % ROOM_STEP if room > 2 * ROOM_STEP else room)
        if key not in cached:
            cached[key] = evidence_windows(read_evidence(evidence).text, key[1], scorer.count)
            if len(cached) > _CACHED_EVIDENCE:
                cached.popitem(last=False)
        return cached[key]

    for index, statement in enumerate(statements):
        open_claims = [i for i, refused in enumerate(best[index]) if refused is None]
        if not open_claims:
            continue
        full_text = ""
        for claim_parts, answer in _read_together(scorer, statement, open_claims, max_tokens):
            parts = (" ".join(answer),) if max_tokens else answer
            room = min(scorer.room(text, statement.question) for text in parts)
            windows = cut(statement.evidence, room)
            if len(windows) > 1 and not full_text:
                # For a record, these are its sentences, which the windows are cut from.
                full_text = read_evidence(statement.evidence).text
            for window in windows:
                for (claim, part), text in zip(claim_parts, answer, strict=True):
                    context, among = full_text if len(windows) > 1 else "", answer if max_tokens else ()
                    pair = Pair(window.text, text, statement.question, context, among)
                    yield _Job(index, claim, part, pair)


def _read_together(
    scorer: PairScorer, statement: Statement, claims: Sequence[int], max_tokens: int
) -> Iterator[tuple[list[tuple[int, int]], tuple[str, ...]]]:
    """Yield the claims or parts of claims that share one window, as (indices (claim, part), their texts).

    max_tokens: maximum number of tokens read together. With 0, each claim is read alone, but all claims share windows
    of the size that the longest claim permits.
    """
    claim_texts = [statement.claims[i] for i in claims]
    sizes = list(scorer.count(claim_texts))
    # A claim that is too long is read in separate parts. Otherwise its end would not be read.
    long = [i for i, size in enumerate(sizes) if size > MAX_CLAIM_TOKENS]
    parts = {
        i: [w.text for w in evidence_windows(claim_texts[i], MAX_CLAIM_TOKENS, scorer.count, overlap_sentences=0)]
        for i in long
    }
    if not max_tokens:
        texts = [
            (claims[i], n, text)
            for i in range(len(claim_texts))
            for n, text in enumerate(parts.get(i, [claim_texts[i]]))
        ]
        yield [(claim, n) for claim, n, _ in texts], tuple(text for _, _, text in texts)
        return
    short = [i for i in range(len(claim_texts)) if i not in parts]
    for part in answer_parts([sizes[i] for i in short], max_tokens):
        yield [(claims[short[k]], 0) for k in part], tuple(claim_texts[short[k]] for k in part)
    for i in long:
        for n, text in enumerate(parts[i]):
            yield [(claims[i], n)], (text,)


def _better_window(best: ClaimSupport | None, score: float, pair: Pair, scorer: str) -> ClaimSupport:
    if best is not None and best.support is None:
        return best
    if not math.isfinite(score) or not 0.0 <= score <= 1.0:
        return ClaimSupport(None, reason=f"{scorer} gave a window the support {score}, which is not a number in [0, 1]")
    if best is not None and best.support is not None and score <= best.support:
        return best
    return ClaimSupport(score, pair.evidence, answer=pair.answer)


def _worse_part(worst: ClaimSupport | None, part: ClaimSupport) -> ClaimSupport:
    """Return the worse of two parts of a claim; unscored if either is."""
    if worst is None or part.support is None:
        return part
    return worst if worst.support is None or worst.support <= part.support else part
