"""The exception that parsers raise."""

from __future__ import annotations


class ParseError(Exception):
    """The content cannot be parsed. The message, which is shown as the reason of a Refused, says why and what to do."""
