"""Overlap of the characters that a verifier marked with those that annotators marked: precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.detection.intervals import ScoreEstimate, ratio_estimate, undefined
from evaluation.detection.metrics import Bools
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A response with marked characters.

    length: number of characters. found, true: (start, end) spans of the verifier and of the annotators. group: ID that
    dependent responses share.
    """

    length: int
    found: tuple[tuple[int, int], ...]
    true: tuple[tuple[int, int], ...]
    group: str


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Micro-averages over characters: precision = both / found, recall = both / true, F1 their harmonic mean.

    This is how RAGTruth scores spans (Niu et al. 2024, section 4.2). characters: number marked by annotators.
    """

    precision: ScoreEstimate
    recall: ScoreEstimate
    f1: ScoreEstimate
    characters: int


def span_scores(texts: Sequence[MarkedText]) -> SpanScores:
    """Compute the metrics of all responses together, with limits by group."""
    names = {name: index for index, name in enumerate(dict.fromkeys(text.group for text in texts))}
    sums = np.zeros((len(names), 3))  # found, true, both
    for text in texts:
        marked, wrong = _mask(text.length, text.found), _mask(text.length, text.true)
        sums[names[text.group]] += (marked.sum(), wrong.sum(), (marked & wrong).sum())
    if not len(names):
        nothing = undefined("no response was scored")
        return SpanScores(nothing, nothing, nothing, 0)
    found, true, both = sums.T
    return SpanScores(
        precision=_share(both, found, texts, "the verifier marked nothing"),
        recall=_share(both, true, texts, "no character is marked as hallucinated"),
        # 2 PR / (P + R) = 2 both / (found + true)
        f1=_share(2.0 * both, found + true, texts, "no character is marked by anyone"),
        characters=int(true.sum()),
    )


def _share(h: Floats, a: Floats, texts: Sequence[MarkedText], nothing: str) -> ScoreEstimate:
    """Return a ratio of characters. Its effective sample size is at most the number of responses."""
    return ratio_estimate(h, a, float(len(texts))) if a.any() else undefined(nothing)


def _mask(length: int, spans: Iterable[tuple[int, int]]) -> Bools:
    mask = np.zeros(length, dtype=np.bool_)
    for start, end in spans:
        mask[start:end] = True
    return mask
