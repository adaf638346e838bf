"""Merging of two sentences into one, as answers and summaries do."""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random

from evaluation.synthetic_claims.shortening import lower_first_word

_IS = re.compile(r"^(?P<subject>[A-Z][\w’'. -]{2,50}?) (?P<verb>is|was) (?P<rest>an? [^,;]{8,}|the [^,;]{8,})\.$")
_SUBJECT_PRONOUN = re.compile(r"^(?P<pronoun>He|She|It) (?P<rest>[a-z][^,;:]{10,})\.$")
_JOINTS = (", and ", ", while ", "; ", ", and ", "; also, ")


def merged(first: str, second: str, chance: Random, plain: Collection[str] = ()) -> str:
    """Return both sentences as one, or one after the other.

    ``second`` may use a pronoun for the subject of ``first``. plain: see ``lower_first_word``.
    """
    is_a, pronoun = _IS.match(first), _SUBJECT_PRONOUN.match(second)
    if is_a is not None and pronoun is not None and chance.random() < 0.7:
        who = "which" if pronoun["pronoun"] == "It" else "who"
        return f"{is_a['subject']}, {who} {pronoun['rest']}, {is_a['verb']} {is_a['rest']}."
    if chance.random() < 0.3 or len(first) + len(second) > 320:
        return f"{first} {second}"
    joints = (
        _JOINTS
        if not re.match(r"(?:While|When|As|If|After|Before|Although|Though|Also|And|But)\b", second)
        else _JOINTS[:1]
    )
    return f"{first[:-1]}{chance.choice(joints)}{lower_first_word(second, plain)}"
