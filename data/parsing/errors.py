"""Why something cannot be parsed."""

from __future__ import annotations


class ParseError(Exception):
    """The whole message is the reason of a Refused: what is wrong with the content and what to do."""
