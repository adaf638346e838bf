"""Passages that an answer repeats below what it says, each on a line of its own: "[2] The landing: They ..."."""

from __future__ import annotations

import re

_PASSAGE = re.compile(
    r"\n[ \t]*(?:(?:\[\d{1,3}\]|\(\d{1,3}\)|【\d{1,3}[^】\n]{0,20}】)[ \t]*(?=\S)|"
    r"(?:passage|document|source|context|excerpt|chunk)s?(?: ?\[?\d{1,3}\]?)?[ \t]*:[ \t]*)",
    re.IGNORECASE,
)


def before_echo(text: str) -> str:
    """The beginning of a text up to the first passage that it repeats on a line of its own.

    The whole text where it repeats none, where nothing is said before, and where a colon announces a list.
    """
    for match in _PASSAGE.finditer(text):
        before = text[: match.start()].rstrip()
        if any(c.isalnum() for c in before) and not before.endswith((":", "：")):
            return text[: match.start()]
    return text
