"""Check whether a question can be understood without its document, and rewrite it if it cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from model.english import MONTHS, WEEKDAYS

_NAME: Final = re.compile(r"(?<=\s)[^\W\d_a-zà-ÿ][\w’'.-]*(?: (?:(?:of|the|de|von|van) )*[^\W\d_a-zà-ÿ][\w’'.-]*)*")
_REFERENCE: Final = re.compile(
    r"\b(?:according to|in|from|by|of|does|do) (?:the|this|that) (?:above|following|given|provided|same)?\s*"
    r"(?:text|passage|document|paragraph|excerpt|article|author|section|context|sentence|quote|information|table|"
    r"figure|statement|snippet)\b(?! [\"“])|\b(?:mentioned|described|listed|stated|given|shown|provided) "
    r"(?:above|here|below|in (?:the|this))\b|\b(?:the|this) (?:passage|excerpt|text|paragraph|context|snippet)\b",
    re.IGNORECASE,
)
_UNRESOLVED: Final = re.compile(
    r"^(?:and|but|so|also|then)\b|\b(?:he|she|him|his|her|hers|they|them|their|theirs|this|these|those|it|its)\b",
    re.IGNORECASE,
)
_MAX_TITLE: Final = 90


def is_standalone(question: str) -> bool:
    """Return whether the question has no unresolved pronoun and no reference such as "the document above"."""
    unquoted = re.sub(r"[\"“][^\"”]*[\"”]", "", question)
    return not _REFERENCE.search(unquoted) and not _UNRESOLVED.search(unquoted)


def with_title(question: str, title: str) -> str | None:
    """Return the question, prefixed with the document's title if it does not name its subject.

    A question names its subject if it has two words of the title, or one and a name, or two separate names ("Secretary
    of State" is one). Returns None if the title is needed but not usable.
    """
    words = [w for w in re.findall(r"[^\W_]{3,}|\d+", title.lower()) if w not in ("the", "and", "for", "list")]
    low = question.lower()
    names = [n for n in _NAME.findall(question) if n.lower() not in MONTHS and n.lower() not in WEEKDAYS]
    shared = [word for word in words if re.search(rf"\b{re.escape(word)}\b", low)]
    if len(names) > 1 or (shared and (len(shared) > 1 or names)):
        return question
    if not usable_title(title):
        return None
    head, _, rest = question.partition(" ")
    head = head if head.isupper() and len(head) > 1 else head[:1].lower() + head[1:]
    return f'According to "{title.strip()}", {head} {rest}'


def usable_title(title: str) -> bool:
    """Return whether a title can be quoted: it is not empty, not a file name, and not too long."""
    shown = title.strip()
    is_path = bool(PurePosixPath(shown).suffix) and " " not in shown
    return bool(shown) and len(shown) <= _MAX_TITLE and not is_path and '"' not in shown and "\n" not in shown


def names_in(text: str, known: Sequence[str]) -> list[str]:
    """Return the names in ``known`` that occur in the text as complete words."""
    return [name for name in known if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
