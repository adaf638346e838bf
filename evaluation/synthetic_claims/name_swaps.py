"""Exchange of names in a claim: for another of the same kind, for each other, or the subjects of two sentences."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

from evaluation.synthetic_claims.edits import EditedClaim, capitalised, replaced
from evaluation.synthetic_claims.entities import KnownName, Mention, mentions
from evaluation.synthetic_claims.negation import listed_verbs
from evaluation.synthetic_claims.pool import Pool
from evaluation.synthetic_claims.source_text import Article

_BETWEEN_ROLES = re.compile(
    r"^(?:'s [\w ]+)? (?:(?:was|were|is|are|had been|has been|[\w-]+ed|wrote|won|led|beat|sold|bought|taught|met|"
    r"left|built|"
    r"took|gave|made|became|broke|held|fought|saw)\b[\w ]{0,30}?(?:(?:by|from|to|against|over|of|in|the|a|at|into|"
    r"on|than|for) )*|"
    r"(?:[\w ]+ )?(?:by|from|to|against|over|than|before|after|instead of|rather than|under|into) (?:the )?)$"
)
_SYMMETRIC = re.compile(
    r"\b(?:married|met|and|or|between|with|joined|equals?|near|borders?|merged|also|called|named|known|became|"
    r"become|linked|similar|related|compared|connected|distance|equal|same|including|along|alongside)\b"
)
_SUBJECT = re.compile(
    r"^(?P<subject>(?:The )?(?:[\w’'.-]+ ){0,4}?[\w’'-]+) (?P<verb>is|was|has|had|are|were|have|can|could|"
    + "|".join(listed_verbs())
    + r") (?P<rest>.{12,})$"
)
_BAD_SUBJECT = re.compile(
    r"^(?:Because|Although|Though|Despite|Unlike|Until|Under|Over|Between|Among|During|Before|Even|However|The "
    r"(?:latter|former|following|same|other|first|second|last)|It|He|She|They|This|These|That|There|Those|In|On|"
    r"At|By|For|One|Some|Many|Most|Such|His|Her|Its|Their|As|While|When|"
    r"If|But|And|Or|Yet|So|Thus|Here|What|Other|Others|Another|Both|All|Each|No|Not|Although|Since|After|Before|"
    r"To|With|From|Also|Who|Which)\b"
    r"|\b(?:that|which|who|and|or|of|in|to|is|was|has|had|not|for|from|by|as|are|were|the|also|then|later|now|"
    r"still|often|usually|only|soon|first|never) ?$|\b(?:that|which|who|when|where|and)\b"
)


def swap_name(text: str, used: str, window: str, article: Article, pool: Pool, chance: Random) -> EditedClaim | None:
    """Replace one name by another of the same kind that the supporting sentences (``used``) do not contain."""
    found = mentions(text, article.inner)
    chance.shuffle(found)
    for mention in found[:3]:
        old = _known(mention, article)
        if old is None or (old.kind == "other" and chance.random() < 0.5):
            continue
        new = _replacement(old, used, window, article, pool, chance)
        if new is not None:
            return replaced(text, mention.start, mention.end, new)
    return None


def other_name(old: str, used: str, window: str, article: Article, pool: Pool, chance: Random) -> str | None:
    """Return a name of the same kind as ``old`` that ``used`` does not contain, or None."""
    known = article.names.get(old)
    return None if known is None else _replacement(known, used, window, article, pool, chance)


def has_roles(text: str, article: Article) -> bool:
    """Return whether ``swap_roles`` may apply to the sentence."""
    return swap_roles(text, article, Random(0)) is not None


def has_plain_subject(text: str) -> bool:
    """Return whether ``cross_subjects`` may apply to the sentence. This is a fast test."""
    match = _SUBJECT.match(text)
    return match is not None and not _BAD_SUBJECT.search(match["subject"])


def swap_roles(text: str, article: Article, chance: Random) -> EditedClaim | None:
    """Turn "A defeated B" into "B defeated A".

    It exchanges two names of one kind whose roles are shown by the words between them. None if there are none.
    """
    found = mentions(text, article.inner)
    pairs = list(pairwise(found))
    chance.shuffle(pairs)
    for left, right in pairs:
        one, two = _known(left, article), _known(right, article)
        between = text[left.end : right.start]
        if one is None or two is None or one.kind != two.kind or _similar(left.name, right.name):
            continue
        if (one.kind in ("other", "people")) or not _BETWEEN_ROLES.match(between) or _SYMMETRIC.search(between):
            continue
        if text[right.end : right.end + 5] == " and " or text[: left.start].endswith(" and "):
            continue
        new = text[: left.start] + right.name + between + left.name + text[right.end :]
        second = left.start + len(right.name) + len(between)
        return EditedClaim(new, ((left.start, left.start + len(right.name)), (second, second + len(left.name))))
    return None


def cross_subjects(text: str, other: str, article: Article) -> EditedClaim | None:
    """Combine the subject of ``other`` with the predicate of ``text``.

    None unless both sentences have a plain subject of the same kind and number.
    """
    mine, theirs = _SUBJECT.match(text), _SUBJECT.match(other)
    if mine is None or theirs is None or _BAD_SUBJECT.search(mine["subject"]) or _BAD_SUBJECT.search(theirs["subject"]):
        return None
    old, new = mine["subject"], theirs["subject"]
    if _similar(old.removeprefix("The "), new.removeprefix("The ")) or new.lower() in text.lower():
        return None
    if (mine["verb"] in ("are", "were", "have")) != (theirs["verb"] in ("are", "were", "have")):
        return None
    if old.endswith("s") != new.endswith("s") or _kind(old, article) != _kind(new, article):
        return None
    return replaced(text, 0, len(old), capitalised(new))


def _kind(name: str, article: Article) -> str:
    known = article.names.get(name.removeprefix("The "))
    return known.kind if known else ("thing" if name.startswith(("The ", "A ", "An ")) else "other")


def _known(mention: Mention, article: Article) -> KnownName | None:
    return article.names.get(mention.name)


def _similar(one: str, two: str) -> bool:
    a, b = set(one.lower().split()), set(two.lower().split())
    initials = "".join(word[0] for word in one.split()), "".join(word[0] for word in two.split())
    return bool((a & b) - {"of", "the", "de"}) or one in two or two in one or initials[0] == two or initials[1] == one


def _replacement(old: KnownName, used: str, window: str, article: Article, pool: Pool, chance: Random) -> str | None:
    near = [
        known
        for known in article.names.values()
        if known.kind == old.kind
        and known.article == old.article
        and known.name not in used
        and not _similar(known.name, old.name)
        and (old.kind != "other" or abs(len(known.name.split()) - len(old.name.split())) < 2)
    ]
    inside = [known for known in near if known.name in window]
    way = chance.random()
    if inside and way < 0.5:
        return chance.choice(inside).name
    if near and way < 0.85:
        return chance.choice(near).name
    if old.kind == "other":
        return chance.choice(near).name if near else None
    new = pool.name(old.kind, chance)
    return new if new is not None and new not in used and not _similar(new, old.name) else None
