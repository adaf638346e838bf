"""Score a reader with intervals: F1 and exact match on answerable examples, refusal on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from data.reading_examples import ReadingExample
from evaluation.detection.intervals import ScoreEstimate, rate_estimate, ratio_estimate, undefined
from evaluation.detection.metrics import Bools, calibration_error, calibration_gaps, equal_mass_bins
from evaluation.reading.reading_scores import ReaderAnswer, read_answers
from evaluation.reading.risk_coverage import RiskCoverage, risk_coverage
from evaluation.reading.squad_metric import squad_exact, squad_f1
from evaluation.statistics.counts import Floats
from generation.generator import Generator
from retrieval.chunking.chunks import Chunk

_SPEED_BLOCKS = 50


@dataclass(frozen=True, slots=True)
class ReaderScores:
    """Metrics of one source, or of all.

    articles: number of articles.
    f1, em: mean F1 and exact match on answerable examples. A refusal scores 0.
    no_answer_accuracy: share of unanswerable examples that are refused.
    refused_answerable: share of answerable examples that are refused.
    """

    source: str
    answerable: int
    unanswerable: int
    articles: int
    f1: ScoreEstimate
    em: ScoreEstimate
    no_answer_accuracy: ScoreEstimate
    refused_answerable: ScoreEstimate


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """Metrics of a reader.

    overall: metrics of all examples together. sources: metrics by source.
    misfits: number of questions that are too long for the reader. They count as wrong.
    risk: risk-coverage curve of the answers, most confident first, with the loss 1 - F1; None without an answer.
    confidence_error: expected calibration error of the answers' probability, compared with exact match; None without
        an answer.
    """

    overall: ReaderScores
    sources: tuple[ReaderScores, ...]
    answers_per_second: ScoreEstimate
    misfits: int
    risk: RiskCoverage | None
    confidence_error: float | None


def score_reader_answers(
    generator: Generator,
    examples: Sequence[ReadingExample],
    passages: Sequence[Sequence[Chunk]],
    *,
    max_tokens: int = 32,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReaderReport:
    """Score greedy answers from each example's own passages. Answers are compared as in the SQuAD script.

    seed: seed of the interval of the speed.
    progress: called with (done, total) examples.

    Limits are by article (ReadingExample.group): Clopper-Pearson at the clustered effective sample size, which never
    has zero width (evaluation.statistics.intervals). They are conservative for F1, which varies less in [0, 1] than
    zeros and ones do.
    """
    answers = tuple(read_answers(generator, examples, passages, max_tokens=max_tokens, progress=progress))
    rows = [_row(example, answer) for example, answer in zip(examples, answers, strict=True)]
    sources = sorted({row.source for row in rows})
    blocks = np.array_split(np.array([answer.seconds for answer in answers]), min(_SPEED_BLOCKS, max(1, len(answers))))
    answered = [i for i, row in enumerate(rows) if not row.refused and answers[i].fitted]
    confidences = np.array([answers[i].confidence for i in answered])
    return ReaderReport(
        overall=_scores("all", rows),
        sources=tuple(_scores(source, [row for row in rows if row.source == source]) for source in sources),
        answers_per_second=rate_estimate(
            [block.size for block in blocks], [float(block.sum()) for block in blocks], "answers", seed
        ),
        misfits=sum(not answer.fitted for answer in answers),
        risk=risk_coverage(confidences.tolist(), [1.0 - rows[i].f1 for i in answered]) if answered else None,
        confidence_error=_confidence_error(confidences, np.array([rows[i].em > 0 for i in answered]))
        if answered
        else None,
    )


def _confidence_error(confidences: Floats, correct: Bools) -> float:
    gaps = calibration_gaps(confidences, correct, equal_mass_bins(confidences))
    return float(calibration_error(gaps.sum(axis=0), np.array(float(len(confidences)))))


@dataclass(frozen=True, slots=True)
class _Row:
    source: str
    group: str
    answerable: bool
    f1: float
    em: float
    refused: float


def _row(example: ReadingExample, answer: ReaderAnswer) -> _Row:
    text = "" if answer.refused or not answer.fitted else answer.text
    return _Row(
        example.source,
        example.group,
        example.answerable,
        squad_f1(text, example.answers) if text and example.answerable else 0.0,
        float(bool(text) and example.answerable and squad_exact(text, example.answers)),
        float(answer.refused),
    )


def _scores(source: str, rows: Sequence[_Row]) -> ReaderScores:
    yes = [row for row in rows if row.answerable]
    no = [row for row in rows if not row.answerable]
    return ReaderScores(
        source,
        len(yes),
        len(no),
        len({row.group for row in rows}),
        _mean(yes, lambda row: row.f1, "no example is answerable"),
        _mean(yes, lambda row: row.em, "no example is answerable"),
        _mean(no, lambda row: row.refused, "no example is unanswerable"),
        _mean(yes, lambda row: row.refused, "no example is answerable"),
    )


def _mean(rows: Sequence[_Row], value: Callable[[_Row], float], nothing: str) -> ScoreEstimate:
    """Return the mean over examples as a ratio of totals by article."""
    if not rows:
        return undefined(nothing)
    names = {name: index for index, name in enumerate(dict.fromkeys(row.group for row in rows))}
    totals, counts = np.zeros(len(names)), np.zeros(len(names))
    for row in rows:
        totals[names[row.group]] += value(row)
        counts[names[row.group]] += 1
    return ratio_estimate(totals, counts, float(len(rows)))
