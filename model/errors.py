"""Errors of the model package."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class ModelError(PlumblineError):
    """A checkpoint, a configuration or an input to the model is invalid; the message names what and what to do."""
