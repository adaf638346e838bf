"""Errors of the model room that a caller can act on."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class ModelError(PlumblineError):
    """A checkpoint, a configuration or an input to the model is wrong; the message names what and what to do."""
