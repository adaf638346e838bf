"""The error of the parsers."""

from __future__ import annotations


class ParseError(Exception):
    """The content cannot be parsed. The message becomes the reason of a Refused: what is wrong and what to do."""
