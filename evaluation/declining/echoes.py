"""Detection of passages that an answer repeats after its own text.

Each repeated passage is on a separate line: "[2] The landing: They ...".
"""

from __future__ import annotations

import re

_PASSAGE = re.compile(
    r"\n[ \t]*(?:(?:\[\d{1,3}\]|\(\d{1,3}\)|【\d{1,3}[^】\n]{0,20}】)[ \t]*(?=\S)|"
    r"(?:passage|document|source|context|excerpt|chunk)s?(?: ?\[?\d{1,3}\]?)?[ \t]*:[ \t]*)",
    re.IGNORECASE,
)


def text_before_repeat(text: str) -> str:
    """Return the text before the first repeated passage that is on a separate line.

    Returns the complete text if nothing is repeated, if nothing precedes it, or if a colon announces a list.
    """
    for match in _PASSAGE.finditer(text):
        before = text[: match.start()].rstrip()
        if any(c.isalnum() for c in before) and not before.endswith((":", "：")):
            return text[: match.start()]
    return text
