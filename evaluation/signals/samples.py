"""One question's samples and main answer, as the signals see them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignalValue:
    """A number, or None with the reason why there is none. Higher always means less to be trusted."""

    value: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("a signal that is absent must say why")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a signal is {self.value}: it must be finite, or None with a reason")


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """One answer.

    logprobs: natural logarithm of each token's probability under the model at temperature 1, before truncation; None
    where the generator gives none. sampling_logprobs: under the distribution it was drawn from (temperature, top-k and
    top-p applied), None where they are not known; the same as logprobs when it was drawn at temperature 1 untruncated.
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
    """A question, its answer at low temperature (whose verdict is to be told) and n samples at the usual one."""

    question_id: str
    question: str
    answer: SampledAnswer
    samples: tuple[SampledAnswer, ...]
