"""Compare answers with a reference that is a designation: a version, an address, an option, an initialism or "none".

Designations are not quantities: version 2.10 is not 2.1, and 10.0.0.1 is not 10.0.0.10.
"""

from __future__ import annotations

import re

from evaluation.language.normalise import fold
from evaluation.verifiers.match import HALF, Match

_VERSION = re.compile(r"(?<![\w.])v?\.? ?(\d+(?:\.\d+)+(?:-?(?:alpha|beta|rc|a|b)\.?\d*)?)(?![\w]|\.\d)", re.IGNORECASE)
_ASKS_VERSION = re.compile(r"\b(?:versions?|releases?|builds?|firmware|revisions?)\b", re.IGNORECASE)
_NAMED_VERSION = re.compile(r"^v(?:er(?:sion)?)?\.? ?\d", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d{1,5})?(?![\w]|\.\d)")
_NONE = re.compile(
    r"^(?:none(?: of (?:the (?:above|options|answers|choices|listed)|these|those|them))?|nothing|"
    r"no one|nobody)$"
)
_FLAG = re.compile(r"(?<=\s)--?[A-Za-z][\w-]*")
_DENIES = re.compile(
    r"\b(?:not|never|isn't|wasn't|no longer|instead of|rather than|unlike|except|wrongly|formerly|"
    r"previously)\b[^.;,]{0,30}$"
)
_SMALL = frozenset({"of", "the", "and", "for", "in", "de", "la", "le", "du", "des", "&"})


def compare_designations(answer: str, reference: str, question: str) -> Match | None:
    """Return the match; None if the reference is not a designation, or if an initialism does not fit."""
    answer_text, reference_text = fold(answer).strip(), fold(reference).strip(" .")
    if _NONE.match(reference_text.lower()):
        if _NONE.match(answer_text.lower().strip(" .!")):
            return Match("supported", 1.0, "both say none")
        return None
    flags = set(_FLAG.findall(reference_text))
    if flags and not any(c.isdigit() for c in reference_text) and flags - set(_FLAG.findall(answer_text)):
        return Match("unverifiable", HALF, "lacks an option of the reference's command")
    address = _ADDRESS.fullmatch(reference_text)
    if address:
        return _compare_pattern(_ADDRESS, answer_text, reference_text, "address")
    version = _VERSION.fullmatch(reference_text)
    if version and (_NAMED_VERSION.match(reference_text) or _ASKS_VERSION.search(question)):
        return _compare_pattern(_VERSION, answer_text, version[1], "version")
    if _initialism_of(answer_text, reference_text) or _initialism_of(reference_text, answer_text):
        return Match("supported", 1.0, "is the reference's initialism, or the reverse")
    return None


def _compare_pattern(pattern: re.Pattern[str], answer: str, reference: str, kind: str) -> Match:
    candidates = [(m[1] if m.re.groups else m.group(), m.start()) for m in pattern.finditer(answer)]
    if not candidates:
        return Match("unverifiable", 0.0, f"gives no {kind}")
    equal_offsets = [offset for value, offset in candidates if value.lower() == reference.lower()]
    if not equal_offsets:
        return Match("contradicted", 0.0, f"gives another {kind} than the reference")
    if all(_DENIES.search(answer[:offset].lower()) for offset in equal_offsets):
        return Match("contradicted", 0.0, "the answer denies the reference")
    other_offsets = [offset for value, offset in candidates if value.lower() != reference.lower()]
    if any(not _DENIES.search(answer[:offset].lower()) for offset in other_offsets):
        return Match("unverifiable", HALF, f"the answer gives several {kind}{'es' if kind == 'address' else 's'}")
    return Match("supported", 1.0, f"gives the reference's {kind}")


def _initialism_of(short: str, long: str) -> bool:
    """Return whether ``short`` consists of the initials of ``long``: UK, U.K., the UK; also USA for United States."""
    letters = re.sub(r"^(?:the|The) ", "", short).strip(" .!").replace(".", "")
    if not 2 <= len(letters) <= 8 or not letters.isupper() or not letters.isalpha():
        return False
    words = re.findall(r"[^\W\d_]+", long)
    if len(words) < 2:
        return False
    everything = "".join(w[0].upper() for w in words)
    initials = "".join(w[0].upper() for w in words if w.lower() not in _SMALL)
    if letters in (everything, initials):
        return True
    america = initials == "US" and letters == "USA"
    return america or (initials == "USA" and letters == "US")
