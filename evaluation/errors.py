"""Errors of the evaluation room that a caller can act on."""


class EvaluationError(Exception):
    """A run, a question set or an estimate's input is wrong; the message names what and what to do."""
