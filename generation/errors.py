"""Errors of the generation room that a caller can act on."""


class GenerationError(Exception):
    """A prompt or a sampling parameter is wrong; the message names what and what to do."""
