"""Shortening or reordering of sentences without a change of meaning: only additional information is dropped."""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random

from evaluation.synthetic_claims.edits import capitalised
from model.english import word_set

_PARENTHESIS = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_CONNECTIVE = re.compile(
    r"^(?:Therefore|Thus|Hence|Consequently|Furthermore|Moreover) (?=[a-z])|^(?:However|Therefore|Thus|Moreover|"
    r"Furthermore|In addition|Additionally|Also|For example|For instance|As a result|"
    r"Consequently|Nevertheless|Nonetheless|Indeed|In fact|Meanwhile|Similarly|Instead|Hence|Finally|Still|Likewise|"
    r"In contrast|By contrast|On the other hand|Accordingly|Subsequently|Eventually|Then|Otherwise|Besides|But|"
    r"And|So|Yet), "
    r"|^(?:But|And|Thus|So|Yet|Hence) (?=[a-z])",
)
_LEADING = re.compile(
    r"^(?P<adverbial>(?:In|On|During|After|Before|By|At|Since|From|Until|Around|Between|Throughout|With|Under|"
    r"For) [^,;:()]{3,60}), "
    r"(?P<rest>(?P<first>[\w’'-]+) [^;:]{15,})\.$"
)
_DATE_LIKE = re.compile(r"^(?:In|On|During|By|Since|Until|Around|From) .*\d")
_APPOSITIVE = re.compile(
    r"(?<=[\w\")]), (?:an?|the|who|which|whose|where|also known as|including|such as|born) [^,;:()]{3,90},(?= [a-z])"
)
_TAIL = re.compile(
    r", (?:which|who|whose|where|including|such as|although|though|while|whereas|because|so that|making|leading|"
    r"resulting|"
    r"causing|giving|creating|with|as well as|especially|particularly|mostly|mainly|followed by|along with|"
    r"together with|"
    r"and (?:was|is|were|had|has|later|then|also)|but) [^;:]{5,}\.$"
)
_ADVERBIAL_START = re.compile(
    r"^(?:In|On|At|By|For|From|To|With|As|If|When|While|Although|Though|Because|Since|After|Before|During|Until|Under|"
    r"Over|Within|Without|Through|Among|Between|Despite|Like|Unlike|Soon|Later|Today|Early|Then|Here|There|Of|"
    r"Given|Due|"
    r"[A-Z]\w+(?:ly|ing|ed))\b"
)
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did)\b")
_LOWER_FIRST = word_set(
    "The A An In On At By For From To With Of As And Or But If When While Although Though Because Since After Before "
    "During Until Under Over He She It They We You His Her Its Their Our My This That These Those Such Some Many Most "
    "Few All Both Each Every Any No Not There Here Then Thus However Therefore Moreover Furthermore Also Another Other "
    "Others One Two Three Four Five Six Seven Eight Nine Ten What Which Who Whose Where Why How Only Even Despite Like "
    "Unlike Within Without Through Among Between Following Today Later Early Several Once So Yet Modern Much More Less "
    "Given Due Instead Rather Still Again Often Usually Generally Typically Finally Traditional Various Certain"
)


def shorten(sentence: str, chance: Random) -> str:
    """Drop some optional parts at random: parentheses, connectives, appositives, trailing clauses.

    Returns the sentence unchanged if nothing can be dropped. The result still follows from the sentence.
    """
    text = _CONNECTIVE.sub("", sentence)
    text = capitalised(text)
    if chance.random() < 0.85:
        text = _PARENTHESIS.sub("", text)
    if chance.random() < 0.5:
        text = _if_long_enough(_without_appositive(text), text)
    if chance.random() < 0.5:
        text = _if_long_enough(_without_tail(text), text)
    if chance.random() < 0.45:
        text = leading_moved(text, chance)
    return text


def _if_long_enough(new: str, old: str) -> str:
    return new if len(new.split()) >= 6 else old


def _without_appositive(text: str) -> str:
    match = _APPOSITIVE.search(text)
    if match is None or _ADVERBIAL_START.match(text) or "," in text[: match.start()]:
        return text
    inside, after = match.group(), text[match.end() :]
    if re.match(r" (?:and|or|but|as well)\b", after) or text.count('"', 0, match.start()) % 2:
        return text
    if not re.match(r", (?:who|which|whose|where)\b", inside) and _FINITE.search(inside):
        return text
    return text[: match.start()] + after


def _without_tail(text: str) -> str:
    match = _TAIL.search(text)
    if match is None or text.count('"', match.start()) % 2:
        return text
    # In "such as A, B, and C, is", the phrase precedes the verb and is not the end of the sentence.
    head = text[: match.start()]
    if re.match(r"^(?:While|Although|Though|If|When|Because|Since|As|Unlike|Whereas|After|Before|Despite|Not)\b", head):
        return text
    return head + "."


def leading_moved(text: str, chance: Random) -> str:
    """Turn "In 1990, X happened." into "X happened in 1990.".

    Other sentences are returned unchanged.
    """
    match = _LEADING.match(text)
    if match is None or match["first"].endswith("ing"):
        return text
    adverbial, rest = match["adverbial"], match["rest"]
    if "," in rest or " and " in rest or " but " in rest or rest.count('"') % 2 or '"' in adverbial:
        return text
    if re.search(r"\b(?:in|on|at|during|by|since|until) [^ ]*\d+$", rest):
        return text
    if not _DATE_LIKE.match(adverbial) and len(adverbial.split()) > 4:
        return text
    return f"{capitalised(rest)} {adverbial[0].lower()}{adverbial[1:]}."


def lower_first_word(text: str, plain: Collection[str] = ()) -> str:
    """Lower-case the first word of a text that follows other words, unless the word is a name.

    plain: words that the article writes in lower case elsewhere. The word is not a name if it is one of them, or if it
    is listed.
    """
    first = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if first in _LOWER_FIRST or first.lower() in plain else text
