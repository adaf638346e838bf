"""Define the input of the signals: samples and main answer of one question."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignalValue:
    """Value of a signal, or None with a reason. A higher value always means a less trustworthy answer."""

    value: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("a signal without a value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a signal is {self.value}: it must be finite, or None with a reason")


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """One answer with its token probabilities.

    logprobs: natural logarithm of each token's probability at temperature 1, before truncation; None if the generator
        provides none.
    sampling_logprobs: natural logarithm of each token's probability under the sampling distribution (with temperature,
        top-k and top-p); None if unknown. It equals logprobs for an answer drawn at temperature 1 without truncation.
    """

    text: str
    logprobs: tuple[float, ...] | None = None
    sampling_logprobs: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, values in (("logprobs", self.logprobs), ("sampling_logprobs", self.sampling_logprobs)):
            for value in values or ():
                if math.isnan(value) or value > 1e-6:
                    raise ValueError(f"{name} has {value}: a logarithm of a probability is at most 0")


@dataclass(frozen=True, slots=True)
class QuestionSamples:
    """A question with its answers.

    answer: answer at low temperature, whose verdict the signals predict. samples: n answers at the usual temperature.
    """

    question_id: str
    question: str
    answer: SampledAnswer
    samples: tuple[SampledAnswer, ...]
