"""Errors of the generation room that a caller can act on."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class GenerationError(PlumblineError):
    """A prompt or a sampling parameter is wrong; the message names what and what to do."""


class ContextLengthError(GenerationError):
    """The question or the prompt does not fit the model's context: a shorter one might."""


class ParameterError(GenerationError):
    """A sampling parameter cannot be used. parameter: its name, as SamplingParams has it."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, str(self))


class OutOfMemoryError(GenerationError):
    """Memory ran out while several requests were at work: the same request may succeed later."""


class ModelOutputError(GenerationError):
    """The model computed nothing that can be drawn from (NaN or infinite probabilities): its weights are damaged."""


class UnavailableError(GenerationError):
    """The generator cannot answer now, whatever is asked: its server is away, refuses the key, or talks nonsense."""
