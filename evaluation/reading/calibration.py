"""Calibrate a reader on held-out examples: softmax temperature and threshold for declining."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from data.reading_examples import ReadingExample
from evaluation.errors import EvaluationError
from evaluation.reading.squad_metric import squad_f1
from generation.errors import GenerationError
from generation.reader.probing import distributions, force_answer
from generation.reader.reader import EmbeddedReader
from generation.style.restyling import without_citations
from model.reader.prefix_decoder import ReaderUse
from model.training.rows import TokenRow
from retrieval.chunking.chunks import Chunk, RetrievedChunk

_TEMPERATURES = tuple(round(0.5 + 0.05 * i, 2) for i in range(51))  # 0.5 to 3


@dataclass(frozen=True, slots=True)
class ProbedExample:
    """An example answered with declining disabled. f1: token F1 of the answer. margin: see ``ForcedAnswer``."""

    answerable: bool
    f1: float
    margin: float


@dataclass(frozen=True, slots=True)
class NullChoice:
    """A null bias with its results on the examples on which it was chosen.

    f1: mean F1 on answerable examples. no_answer_accuracy: share of unanswerable examples that are declined.
    """

    null_bias: float
    f1: float
    no_answer_accuracy: float


@dataclass(frozen=True, slots=True)
class ReaderCalibration:
    """Result of calibrating a reader.

    use: the chosen temperature and null bias.
    examples: number of examples on which the null bias was chosen.
    loss_before, loss_after: loss in nats per token at temperature 1 and at the chosen one.
    choice: the null bias with its results.
    """

    use: ReaderUse
    examples: int
    loss_before: float
    loss_after: float
    choice: NullChoice


def calibrate_reader(
    reader: EmbeddedReader,
    examples: Sequence[ReadingExample],
    passages: Sequence[Sequence[Chunk]],
    rows: Sequence[TokenRow],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> ReaderCalibration:
    """Choose the temperature on ``rows`` (minimum loss), then the null bias on ``examples`` with their passages.

    progress: called with (done, total) examples.

    Raises EvaluationError if there are no rows, or not both answerable and unanswerable examples.
    """
    fit = fit_temperature(reader, rows)
    calibrated = reader.with_use(ReaderUse(fit.temperature))
    probed = probe(calibrated, examples, passages, progress=progress)
    choice = choose_null_bias(probed)
    use = ReaderUse(fit.temperature, choice.null_bias)
    return ReaderCalibration(use, len(probed), fit.loss_before, fit.loss_after, choice)


@dataclass(frozen=True, slots=True)
class TemperatureFit:
    """The temperature with the smallest loss.

    loss_before, loss_after: loss in nats per token at temperature 1 and at that temperature.
    """

    temperature: float
    loss_before: float
    loss_after: float


def fit_temperature(reader: EmbeddedReader, rows: Sequence[TokenRow]) -> TemperatureFit:
    """Find the temperature among 0.5, 0.55, ... 3 with the smallest loss on ``rows`` (Guo et al. 2017, section 4.2).

    Raises EvaluationError if there are no rows.
    """
    if not rows:
        raise EvaluationError("there are no held-out rows to fit a temperature")
    sums = np.zeros(len(_TEMPERATURES))
    tokens = 0
    with torch.inference_mode():
        for row in rows:
            found = distributions(reader.model, row.prompt, row.answer[:-1])  # (A, V)
            sums += [_loss(found, row.answer, temperature) for temperature in _TEMPERATURES]
            tokens += len(row.answer)
    means = sums / tokens
    best = int(means.argmin())
    return TemperatureFit(_TEMPERATURES[best], float(means[_TEMPERATURES.index(1.0)]), float(means[best]))


def _loss(logprobs: Tensor, answer: Sequence[int], temperature: float) -> float:
    index = torch.tensor(answer, device=logprobs.device)[:, None]
    return -float(torch.log_softmax(logprobs / temperature, dim=-1).gather(1, index).sum())


def probe(
    reader: EmbeddedReader,
    examples: Sequence[ReadingExample],
    passages: Sequence[Sequence[Chunk]],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ProbedExample, ...]:
    """Answer each example whose question fits the context, with declining disabled."""
    out: list[ProbedExample] = []
    for index, (example, chunks) in enumerate(zip(examples, passages, strict=True)):
        retrieved = [RetrievedChunk(chunk, 0.0, rank) for rank, chunk in enumerate(chunks, start=1)]
        try:
            prompt = reader.prompt(example.question, retrieved, 32)
        except GenerationError:  # the question does not fit, so there is no margin
            continue
        found = force_answer(reader, prompt)
        text = without_citations(found.completion)
        out.append(
            ProbedExample(
                example.answerable, squad_f1(text, example.answers) if example.answerable else 0.0, found.margin
            )
        )
        if progress is not None:
            progress(index + 1, len(examples))
    return tuple(out)


def choose_null_bias(probed: Sequence[ProbedExample]) -> NullChoice:
    """Return the null bias that maximises the sum of F1 on answerable examples and accuracy on the others.

    Both classes have equal weight, whatever their sizes. Ties go to the lowest bias, which answers more. Raises
    EvaluationError if one class is missing.
    """
    yes = [p for p in probed if p.answerable]
    no = [p for p in probed if not p.answerable]
    if not yes or not no:
        raise EvaluationError("both answerable and unanswerable held-out examples are needed to choose a null bias")
    f1, margin = np.array([p.f1 for p in yes]), np.array([p.margin for p in yes])
    others = np.array([p.margin for p in no])
    best: NullChoice | None = None
    cuts = np.unique(np.concatenate((margin, others)))
    between = np.concatenate(([cuts[0] - 1.0], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + 1.0]))
    for bias in between:
        found = NullChoice(float(bias), float((f1 * (margin >= bias)).mean()), float((others < bias).mean()))
        if best is None or found.f1 + found.no_answer_accuracy > best.f1 + best.no_answer_accuracy + 1e-12:
            best = found
    if best is None:  # not reached, because there is always a cut
        raise EvaluationError("no null bias could be chosen")
    return best
