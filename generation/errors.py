"""Errors of the generation package."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class GenerationError(PlumblineError):
    """A prompt or a sampling parameter is invalid. The message says what is wrong and what to do."""


class ContextLengthError(GenerationError):
    """The question or the prompt is too long for the model's context."""


class ParameterError(GenerationError):
    """A sampling parameter is invalid. parameter: its name in SamplingParams."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, str(self))


class OutOfMemoryError(GenerationError):
    """Memory ran out while several requests were running; the same request may succeed later."""


class ModelOutputError(GenerationError):
    """The model's output cannot be sampled (NaN or infinite probabilities): its weights are damaged."""


class UnavailableError(GenerationError):
    """The generator cannot serve any request now: its server is down, rejects the key, or sends invalid replies."""
