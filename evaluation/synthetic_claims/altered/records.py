"""Alteration of attributes and opening hours of a record, with the claims that mention them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.altered.alteration import Alteration, Spans

_ATTRIBUTE = re.compile(r"""(?P<quote>['"])(?P<key>\w+)(?P=quote): (?P<value>True|False|true|false)\b""")
_OPPOSITE = {"True": "False", "False": "True", "true": "false", "false": "true"}
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NO_TOPIC = frozenset(("restaurants", "business", "has", "good", "for", "accepts", "by", "allowed", "offers"))
_REQUIRED_WORD = {"street": "park", "lot": "park", "garage": "park", "valet": "park", "live": "music"}
"""Second words that some kinds of parking and music need, because they usually mean something else ("a lot of dishes").
"""
_TIME = re.compile(r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?![\d:])")


def alter_record(answer: Sequence[PairExample], chance: Random) -> Alteration | None:
    """Invert an attribute, or change a time of day, that a supported claim mentions.

    Returns None for evidence that is not a record, and if no claim certainly mentions the value.
    """
    evidence = answer[0].evidence
    if not evidence.lstrip().startswith("{"):
        return None
    ways = [_invert_attribute, _change_time]
    chance.shuffle(ways)
    for way in ways:
        found = way(evidence, answer, chance)
        if found is not None:
            return found
    return None


def _invert_attribute(evidence: str, answer: Sequence[PairExample], chance: Random) -> Alteration | None:
    matches = list(_ATTRIBUTE.finditer(evidence))
    keys = [match["key"] for match in matches]
    chance.shuffle(matches)
    for match in matches:
        topic = [part.lower() for part in _PART.findall(match["key"]) if part.lower() not in _NO_TOPIC]
        if not topic or keys.count(match["key"]) > 1:
            continue
        # If a review also mentions it, it is unknown whether the complete record supports the claim.
        rest = evidence[: match.start()] + evidence[match.end() :]
        if _topic_spans(rest, topic):
            continue
        claims = tuple(_topic_spans(e.claim, topic) for e in answer)
        if _only_supported(answer, claims):
            new = _OPPOSITE[match["value"]]
            return Alteration(evidence[: match.start("value")] + new + evidence[match.end("value") :], claims)
    return None


def _only_supported(answer: Sequence[PairExample], claims: Sequence[Spans]) -> bool:
    """Return whether some claim mentions the value, and all claims that do are supported.

    An unsupported claim may be unsupported because of the value.
    """
    return any(claims) and all(e.supported for e, spans in zip(answer, claims, strict=True) if spans)


def _topic_spans(text: str, topic: Sequence[str]) -> Spans:
    """Return the spans of all words of a topic in the text, with any suffix ("seat" in "seating").

    Empty if one is missing. Two words of which one is short must be adjacent ("take out"): "takes cards" and "outdoor"
    do not match.
    """
    stems = [word if len(word) <= 4 else word[: max(4, len(word) - 3)] for word in topic]
    if len(topic) > 1 and min(map(len, topic)) < 4:
        stems = ["[ -]?".join(topic)]
    spans: list[tuple[int, int]] = []
    for stem in (*stems, *(_REQUIRED_WORD[word] for word in topic if word in _REQUIRED_WORD)):
        match = re.search(rf"(?<![^\W_]){stem}\w*", text, re.IGNORECASE)
        if match is None:
            return ()
        spans.append(match.span())
    return tuple(sorted(set(spans[: len(stems)])))


def _change_time(evidence: str, answer: Sequence[PairExample], chance: Random) -> Alteration | None:
    times = sorted({match.group() for match in _TIME.finditer(evidence)})
    known = {_minutes(time) for time in times}
    chance.shuffle(times)
    for time in times:
        spoken = _spoken_time(_minutes(time))
        claims = tuple(tuple(match.span() for match in spoken.finditer(e.claim)) for e in answer)
        if not _only_supported(answer, claims):
            continue
        near = (m for m in range(360, 1440, 30) if m not in known and abs(m - _minutes(time)) <= 180)
        others = [m for m in near if not any(_spoken_time(m).search(e.claim) for e in answer)]
        if not others:
            continue
        new = chance.choice(others)
        pattern = rf"(?<![\d:]){re.escape(time)}(?![\d:])"
        return Alteration(re.sub(pattern, f"{new // 60}:{new % 60}", evidence), claims)
    return None


def _minutes(time: str) -> int:
    hour, _, minute = time.partition(":")
    return int(hour) * 60 + int(minute)


def _spoken_time(minutes: int) -> re.Pattern[str]:
    """Return a pattern for the forms in which a claim may give this time of day."""
    hour, minute = divmod(minutes, 60)
    half = "p" if hour % 24 >= 12 else "a"
    tail = f":{minute:02d}" if minute else "(?::00)?"
    ways = [
        rf"(?<![\d:.]){hour % 12 or 12}{tail} ?{half}\.?m\b\.?",
        rf"(?<![\d:.]){hour}:{minute:02d}(?! ?[ap]\.?m)(?!\d)",
    ]
    ways += [r"\bnoon\b"] if minutes == 720 else [r"\bmidnight\b"] if minutes in (0, 1440) else []
    return re.compile("|".join(ways), re.IGNORECASE)
