"""Support of many claims by long evidence: cut into windows, scored in blocks, the best window of each claim kept.

Works for any PairScorer. Windows are made when their turn comes, and a block is scored when it is full, so evidence of
any length costs the memory of a block. Claims of one statement are read together by a scorer that can.
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

_KEPT_EVIDENCE = 256
_SMALLEST_BLOCK, _LARGEST_BLOCK, _BLOCKS = 4, 1024, 20


@dataclass(frozen=True, slots=True)
class Statement:
    """Claims of one text that are judged by the same evidence. question: what they answer, may be empty."""

    evidence: str
    claims: tuple[str, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """support: of the best window, in [0, 1]; None where it is unscored, and then reason says why.

    window: the evidence that supports best, as text; empty where there is none. answer: the claims read together with
    it there.
    """

    support: float | None
    window: str = ""
    reason: str = ""
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """pairs: of window and claim scored at once. seconds: wall time, tokenising included."""

    pairs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SupportResult:
    """claims: for each statement, in order, the support of each of its claims. blocks: of the scoring, timed."""

    claims: tuple[tuple[ClaimSupport, ...], ...]
    blocks: tuple[ScoredBlock, ...]


@dataclass(frozen=True, slots=True)
class SupportProgress:
    """statements: whose windows have all been scored or lie in the block at work; pairs: scored so far."""

    statements: int
    total: int
    pairs: int


@dataclass(frozen=True, slots=True)
class _Job:
    """A window and a claim, or a part of one that is longer than a scorer reads; known by where they stand."""

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
    """Score every claim with every window of its evidence; a claim's support is its best window's.

    A claim longer than MAX_CLAIM_TOKENS is cut into parts, and is as good as its worst one. together: whether a scorer
    that can (``answer_tokens``) reads the claims of a statement together, as neighbours.

    A claim without a letter or digit, evidence without any text, and a score that is no number in [0, 1] leave the
    claim unscored with the reason. The first pair is scored once more beforehand, untimed: libraries set up on first
    use. Raises ModelError as the scorer does.
    """
    best: list[list[ClaimSupport | None]] = [[_refused(s, claim) for claim in s.claims] for s in statements]
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
            found[key] = _better(found.get(key), score, job.pair, scorer.name)
    if progress is not None:
        progress(SupportProgress(len(statements), len(statements), pairs))
    for (statement, claim, _), part in found.items():
        best[statement][claim] = _worse(best[statement][claim], part)
    nothing = ClaimSupport(None, reason="the evidence is empty")
    return SupportResult(tuple(tuple(c or nothing for c in row) for row in best), tuple(blocks))


def _refused(statement: Statement, claim: str) -> ClaimSupport | None:
    if not any(character.isalnum() for character in claim):
        return ClaimSupport(None, reason="the claim has no letter and no digit")
    if not statement.evidence.strip():
        return ClaimSupport(None, reason="the evidence is empty")
    return None


def _jobs(
    scorer: PairScorer, statements: Sequence[Statement], best: Sequence[Sequence[ClaimSupport | None]], at_once: int
) -> Iterator[_Job]:
    kept: OrderedDict[tuple[str, int], tuple[Window, ...]] = OrderedDict()

    def cut(evidence: str, room: int) -> tuple[Window, ...]:
        # Steps, so that claims of nearly the same length share the cut of evidence that recurs.
        key = (evidence, room - room % ROOM_STEP if room > 2 * ROOM_STEP else room)
        if key not in kept:
            kept[key] = evidence_windows(read_evidence(evidence).text, key[1], scorer.count)
            if len(kept) > _KEPT_EVIDENCE:
                kept.popitem(last=False)
        return kept[key]

    for index, statement in enumerate(statements):
        open_claims = [i for i, refused in enumerate(best[index]) if refused is None]
        if not open_claims:
            continue
        whole = ""
        for places, answer in _read_together(scorer, statement, open_claims, at_once):
            said = (" ".join(answer),) if at_once else answer
            room = min(scorer.room(text, statement.question) for text in said)
            windows = cut(statement.evidence, room)
            if len(windows) > 1 and not whole:
                # As it is read: of a record the sentences, which the windows are cut from.
                whole = read_evidence(statement.evidence).text
            for window in windows:
                for (claim, part), text in zip(places, answer, strict=True):
                    held, among = whole if len(windows) > 1 else "", answer if at_once else ()
                    pair = Pair(window.text, text, statement.question, held, among)
                    yield _Job(index, claim, part, pair)


def _read_together(
    scorer: PairScorer, statement: Statement, claims: Sequence[int], at_once: int
) -> Iterator[tuple[list[tuple[int, int]], tuple[str, ...]]]:
    """((claim, part) of each, their texts) of what stands in one window.

    at_once: tokens of it at most; 0: the claims are each read alone, but share the cut of the evidence, at the room
    that the longest of them leaves.
    """
    said = [statement.claims[i] for i in claims]
    sizes = list(scorer.count(said))
    # A claim that is too long is read in parts, each alone: its end would not be read at all.
    long = [i for i, size in enumerate(sizes) if size > MAX_CLAIM_TOKENS]
    parts = {
        i: [w.text for w in evidence_windows(said[i], MAX_CLAIM_TOKENS, scorer.count, overlap_sentences=0)]
        for i in long
    }
    if not at_once:
        texts = [(claims[i], n, text) for i in range(len(said)) for n, text in enumerate(parts.get(i, [said[i]]))]
        yield [(claim, n) for claim, n, _ in texts], tuple(text for _, _, text in texts)
        return
    short = [i for i in range(len(said)) if i not in parts]
    for part in answer_parts([sizes[i] for i in short], at_once):
        yield [(claims[short[k]], 0) for k in part], tuple(said[short[k]] for k in part)
    for i in long:
        for n, text in enumerate(parts[i]):
            yield [(claims[i], n)], (text,)


def _better(held: ClaimSupport | None, score: float, pair: Pair, scorer: str) -> ClaimSupport:
    if held is not None and held.support is None:
        return held
    if not math.isfinite(score) or not 0.0 <= score <= 1.0:
        return ClaimSupport(None, reason=f"{scorer} gave a window the support {score}, which is no number in [0, 1]")
    if held is not None and held.support is not None and score <= held.support:
        return held
    return ClaimSupport(score, pair.evidence, answer=pair.answer)


def _worse(held: ClaimSupport | None, part: ClaimSupport) -> ClaimSupport:
    """Of two parts of a claim: unscored where one is."""
    if held is None or part.support is None:
        return part
    return held if held.support is None or held.support <= part.support else part
