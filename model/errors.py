"""Errors of the model room that a caller can act on."""


class ModelError(Exception):
    """A checkpoint, a configuration or an input to the model is wrong; the message names what and what to do."""
