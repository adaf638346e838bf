"""Detect whether an English message depends on earlier ones. The rules look at its words, never at its length.

A message depends on earlier ones if it refers back (a pronoun without an antecedent in the message, "the other one",
"the same", "then"). It also does if it is elliptical (an interrogative phrase without a verb, "In winter?", "What about
the Heron 5?", "Tell me more."). "What is ERR-4042?" has a verb and a name, so it is self-contained.
"""

from __future__ import annotations

import re

ENDS = " \t\r\n?.!,;:\u2026"
"""Characters at the start and end of a message that carry no meaning."""

_AUXILIARY = (
    r"is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|can't|cannot|couldn't|won't|wouldn't|shouldn't"
)
_HAS_AUXILIARY = re.compile(rf"\b(?:{_AUXILIARY})\b|\b(?:what|who|where|when|how|why|that|there|it)'(?:s|re|d|ll)\b")
_WH = r"what|which|who|whom|whose|when|where|why|how"
_PREPOSITION = (
    r"about|above|after|against|around|as|at|before|behind|below|beneath|beside|besides|between|beyond|by|despite|"
    r"during|except|excluding|for|from|in|including|inside|into|like|near|of|off|on|onto|out|outside|over|per|since|than|"
    r"through|throughout|till|to|toward|towards|under|until|up|upon|via|with|within|without"
)
_DETERMINER = r"the|a|an|our|my|your|this|that|these|those|any|some|each|every|all|both|no"
_SURE = re.compile(
    r"(?:no |oh |wait )?(?:are you |is that |you )?(?:really |quite |absolutely )*"
    r"(?:sure|certain|serious|positive|really|seriously|right|correct|true)(?: about (?:it|that|this))?"
)
_MORE = re.compile(
    r"(?:(?:please|and|ok|okay|so|can you|could you|would you|will you|i want to|i'd like to|let me) )*"
    r"(?:(?:tell me|know|give me|say|show me|hear|explain|i need|need|any|some|a bit|a little|in|go|even|anything|what|"
    r"who|where|how|much|many|with|further|once|say it) )*"
    r"(?:more|further|else|on|continue|elaborate|explain|clarify|expand|details?|detail|again|examples?|for example|"
    r"for instance|such as|like what|like who|repeat|meaning|come|so|go ahead|next|summari[sz]e|rephrase)"
    r"(?: (?:details?|detail|information|info|on that|on this|about that|about this|about it|on it|that|this|it|please|"
    r"in (?:more )?detail|specifically|exactly|then))*"
)
_ANAPHOR = re.compile(
    r"\b(?:(?:which|that|this|the|another|each|any|no|other|same|first|second|third|last|next|former|bigger|smaller|\w+er)"
    r" ones?|the (?:same|others?|former|latter|rest|opposite|first|second|last|next|previous)(?=\s*[?.!,]*$)|"
    r"(?:and|or|with|of|for) (?:the )?others|the (?:latter|former)|these|those|"
    r"(?:then|instead|otherwise|thereafter|afterwards?|either|too|as well|though|there)(?=\s*[?.!]*$))\b|"
    r"^(?:which|who|what) (?:is|are|was|were) (?:the )?(?:better|best|worse|worst|more|less|most|least|"
    r"\w{2,}(?:er|est))\b(?:\s+\w+)?\s*[?.!]*$"
)
_EXISTS = re.compile(rf"\b(?:{_AUXILIARY})(?:n't)? there\b|\bthere(?: (?:{_AUXILIARY})|'s|'re)\b")
_OPENER = re.compile(r"(?:and|but|or|so|also|plus)\b[\s,]*|(?:what|how) about\b[\s,]*|what if\b[\s,]*", re.IGNORECASE)
_PARTIAL = re.compile(r"(?:even|only|just|not|except|unless|if|because|especially|or) ")
_ADVERB = r"exactly|precisely|specifically|roughly|approximately|then|else|though|ever|not|so|again|from|to|for|with"
_KIND = re.compile(r"(?:what|which) (?:(?:kinds?|types?|sorts?) of \S+|sizes?|colou?rs?)(?: \S+)?")
_QUESTION_WORDS = frozenset(
    (
        *_WH.split("|"),
        *("warum", "wieso", "weshalb", "wann", "wo", "wohin", "woher", "wer", "wen", "wem", "wie", "wieviel", "viel"),
        *("viele", "lange", "pourquoi", "quand", "où", "qui", "quoi", "combien", "comment", "lequel", "laquelle"),
        *("por", "qué", "porqué", "cuándo", "dónde", "quién", "cuánto", "cuánta", "cuántos", "cómo", "cuál"),
        *("perché", "quando", "dove", "chi", "quanto", "quanti", "come", "quale", "porque", "onde", "quem", "como"),
        *("waarom", "wanneer", "waar", "wie", "wat", "hoe", "hoeveel", "welke", "und", "et", "y", "e", "en", "temps"),
        *("pas", "no", "non", "nicht", "niet", "bis", "seit", "depuis", "desde", "da", "sinds", "tempo", "lang"),
    )
)


def opener_of(message: str) -> str:
    """Return the words that link a message to the previous one ("And", "What about", ...); empty if there are none."""
    match = _OPENER.match(message.lstrip())
    return match[0] if match is not None else ""


def repeats(message: str) -> bool:
    """Return whether the message only asks to repeat or extend the answer ("Really?", "Tell me more.", "And?")."""
    plain = _plain(message.strip()[len(opener_of(message)) :])
    return not _words(plain) or _SURE.fullmatch(plain) is not None or _MORE.fullmatch(plain) is not None


def is_elliptical(message: str) -> bool:
    """Return whether the message omits, or refers to, something that only the previous one states.

    The caller handles pronouns: see ``app.service.engine.standalone``.
    """
    plain = _plain(message)
    words = _words(plain)
    if not words or repeats(message):
        return True
    if _ANAPHOR.search(_EXISTS.sub(" ", plain)) is not None:
        return True
    opener = opener_of(message)
    if opener:
        rest = message.lstrip()[len(opener) :]
        return opener.lower().startswith(("what", "how")) or not _is_sentence(rest) or is_elliptical(rest)
    return _is_fragment(message, plain, words)


def _is_fragment(message: str, plain_text: str, words: list[str]) -> bool:
    """Return whether a message without an opener is a phrase instead of a complete sentence."""
    is_question = message.rstrip().endswith("?")
    if all(word in _QUESTION_WORDS for word in words):
        return True
    if (
        _PARTIAL.match(plain_text) is not None
        and "," not in plain_text
        and not re.search(rf"\b(?:{_WH})\b", plain_text)
    ):
        return is_question
    is_complete = (
        re.split(r",|\b(?:that|who|which|whose|where)\b", plain_text, maxsplit=1)[0] or plain_text
    )  # without a relative clause
    if (
        words[0] in _PREPOSITION.split("|")
        and is_complete != plain_text
        and not _HAS_AUXILIARY.search(is_complete)
        and "," not in plain_text
    ):
        return is_question
    if _HAS_AUXILIARY.search(plain_text) is not None:
        return False
    if re.match(rf"(?:(?:{_PREPOSITION}) )?(?:{_WH})\b", plain_text):
        return _is_interrogative_phrase(plain_text, words)
    if words[0] in _PREPOSITION.split("|"):
        return is_question
    plain = [word for word in _split_names(message) if word.lower() not in _DETERMINER.split("|")]
    if words[0] in _DETERMINER.split("|"):
        return is_question and len(plain) <= 1
    named = len(plain) < len(words)  # a name, a number or a code is self-explanatory
    return is_question and len(words) == 1 and not named


def _is_interrogative_phrase(plain: str, words: list[str]) -> bool:
    """Return whether a message that starts with a question word and has no auxiliary has no verb either.

    "Who pays?" and "What changed?" have a verb but no object, so they count as phrases.
    """
    bare = [word for word in words if not re.fullmatch(_ADVERB, word)]
    if bare and bare[0] in _PREPOSITION.split("|"):
        return len(bare) <= 4
    if words[:2] == ["how", "to"]:
        return len(words) == 2
    if len(bare) <= 2 or _KIND.fullmatch(plain) is not None:
        return True
    return bare[0] == "how" and len(bare) == 3


def _is_sentence(text: str) -> bool:
    """Return whether a text after "And" has a verb and an object."""
    plain = _plain(text)
    about = [w for w in _words(plain) if not re.fullmatch(rf"{_WH}|{_AUXILIARY}|{_PREPOSITION}|{_DETERMINER}", w)]
    verb = _HAS_AUXILIARY.search(plain) is not None or re.match(rf"(?:{_WH})\b", plain) is not None
    return verb and (
        len(about) >= 2 or bool(_codes(text)) or bool(re.search(r"\b(?:is|are|was|were)\b", plain) and about)
    )


def _split_names(message: str) -> list[str]:
    """Return the words that are not names, numbers or codes. The first word counts as a name only if it is written like
    a code.
    """
    words = message.split()
    return [w.strip(ENDS) for i, w in enumerate(words) if not _is_code(w) and not (i > 0 and w[:1].isupper())]


def _codes(message: str) -> list[str]:
    words = message.split()
    return [w for i, w in enumerate(words) if _is_code(w) or (i > 0 and w[:1].isupper() and w != "I")]


def _is_code(word: str) -> bool:
    """Return whether a word is written like an identifier: with a digit, or with a capital after its first letter."""
    bare = word.strip(ENDS + "\"'()")
    return any(c.isdigit() for c in bare) or any(c.isupper() for c in bare[1:])


def _plain(message: str) -> str:
    """Return the text case-folded, on one line, without punctuation at its ends."""
    return " ".join(message.replace("\u2019", "'").casefold().split()).strip(ENDS + "\u00bf\u00a1\"'()")


def _words(plain: str) -> list[str]:
    return re.findall(r"[\w'\-/.]+", plain)
