"""Find and remove citation marks as models write them.

Examples: ``[1]``, ``[1, 2]``, ``[1][2]``, ``【1†source】``, ``[^1]``, ``(Source 2)``.
"""

from __future__ import annotations

import re

_SOURCE = r"(?:docs?|documents?|sources?|refs?|references?|passages?|chunks?|contexts?|citations?|excerpts?|snippets?)"
_NUMBERS = r"\^?\d{1,9}(?:\s?[,;–—-]\s?\^?\d{1,9}){0,20}"
MARK = re.compile(
    rf"\[\[?{_NUMBERS}\]?\](?:\([^()\s]{{0,200}}\))?|【[^】\n]{{1,60}}】|\^\[\d{{1,4}}\]|"
    rf"\[{_SOURCE}\b[ .:#_-]{{0,3}}[^\]\n]{{0,60}}\]|"
    rf"\((?:see |cf\. )?{_SOURCE}\b[ .:#_-]{{0,3}}\d[^()\n]{{0,40}}\)|\({_SOURCE}: [^()\n]{{1,80}}\)|"
    r"<(?:sup|cite)>\[?[^<>\n]{1,40}\]?</(?:sup|cite)>|(?<=[.,;:!?)\]\"'”’])[¹²³⁴-⁹⁰]{1,3}(?![\w.])|"
    r"(?<=[a-z]{4})[¹²³⁴-⁹⁰]{1,3}(?=[.,;:!?]?(?:\s|$))",
    re.IGNORECASE,
)


def without_marks(text: str) -> str:
    """Return the text without citation marks and the white space before them."""
    if not any(c in text for c in "[【(<^¹²³⁴⁵⁶⁷⁸⁹⁰"):
        return text
    kept: list[str] = []
    position = 0
    for match in MARK.finditer(text):
        kept.append(text[position : match.start()].rstrip())
        position = match.end()
    kept.append(text[position:])
    return "".join(kept) if position else text
