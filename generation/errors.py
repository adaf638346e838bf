"""Errors of the generation room that a caller can act on."""


class GenerationError(Exception):
    """A prompt or a sampling parameter is wrong; the message names what and what to do."""


class UnavailableError(GenerationError):
    """The generator cannot answer now, whatever is asked: its server is away, refuses the key, or talks nonsense."""
