"""Tokenise and tag English sentences with a coarse, heuristic part-of-speech tagger based on word lists.

A tag is one character: D determiner, P preposition, R pronoun, C conjunction, S subordinator, A finite auxiliary, V
finite verb, B other verb form, G gerund, N noun, X name, J adjective, T adverb, # number, % percent sign, ' possessive,
and , or ; for punctuation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from generation.english import verbs, words
from model.english import MONTHS, word_set

_TOKEN: Final = re.compile(
    r"[$£€]?\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?![^\W\d_])|(?:[A-Z]\.)+(?:[A-Z](?![a-z]))?|[^\W_]+(?:[-.’'–/&][^\W_]+)*|[^\w\s]|_"
)
_POSSESSIVE: Final = re.compile(r"^(.+?)(['’]s)$")
_ADJECTIVE: Final = re.compile(
    r".{2,}(?:al|ic|ive|ous|able|ible|ful|less|ary|ish|ical|ular|ient|ese)$|(?:new|old|large|small|big|great|high|low|"
    r"long|short|early|late|modern|ancient|good|bad|best|worst|major|minor|main|key|young|strong|weak|free|full|open|"
    r"rich|poor|dark|light|white|black|red|green|blue|hot|cold|heavy|deep|single|double|common|rare|recent|former|"
    r"famous|important|different|similar|human|female|male|western|eastern|northern|southern|upper|lower|inner|outer|"
    r"larger|smaller|higher|lower|greater|older|younger|largest|smallest|highest|lowest|greatest|oldest|longest|"
    r"current|present|separate|royal|civil|complex|simple|true|false|real|whole|entire|wide|broad|narrow|fast|slow|"
    r"dry|wet|warm|cool|soft|hard|thin|thick|sharp|flat|round|rough|raw|pure|near|distant|solid|liquid)$"
)
_NOT_ADJECTIVE: Final = word_set(
    "animal capital metal music public topic logic critic table april proposal material mineral signal hospital "
    "arrival festival journal principal general festival rival total canal coal goal deal library century dictionary "
    "secretary january february territory fish dish archive native topic republic clinic fabric magic traffic arsenal "
    "cathedral trial burial survival removal approval principle arabic vegetable olive officials mathematic "
    "individual client patient ingredient gradient boundary military commentary diary salary olympic motive detective "
    "representative perspective initiative alternative objective relative executive collective"
)
_NOUNS_IN_ING: Final = word_set("king during building evening morning painting meaning being string spring beginning")


@dataclass(frozen=True, slots=True)
class Token:
    """A word at ``text[start:end]``, in characters. low: the word in lower case. tag: see the module docstring."""

    text: str
    low: str
    tag: str
    start: int
    end: int


def read_sentence(text: str, start: int, end: int) -> tuple[Token, ...]:
    """Return the tagged tokens of ``text[start:end]``, without bracketed text and quotation marks."""
    raw: list[tuple[str, int, int]] = []
    depth = 0
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth = max(0, depth - 1)
        elif depth == 0 and word not in '"“”«»*':
            split = _POSSESSIVE.match(word)
            if split:
                middle = match.start() + len(split[1])
                raw += [(split[1], match.start(), middle), (split[2], middle, match.end())]
            else:
                raw.append((word, match.start(), match.end()))
    return tuple(_tagged(raw))


def _tagged(raw: list[tuple[str, int, int]]) -> list[Token]:
    tokens: list[Token] = []
    for index, (word, start, end) in enumerate(raw):
        low = word.lower()
        after = raw[index + 1][0] if index + 1 < len(raw) else "."
        tokens.append(Token(word, low, _tag(word, low, tokens, after), start, end))
    return tokens


def _tag(word: str, low: str, before: list[Token], after: str) -> str:
    last = before[-1].tag if before else "."
    if not low[0].isalnum():
        if low[0] in "$£€" and len(low) > 1:
            return "#"
        return "'" if low in ("'s", "’s", "'", "’") else "," if low == "," else "%" if low == "%" else ";"
    if low[0].isdigit() or (low in words.NUMBER_WORDS and not (word[0].isupper() and before)):
        return "#"
    if low in MONTHS and word[0].isupper() and (before or after[0].isdigit()):
        return "X"
    closed = _closed_class_tag(low, before, last, after)
    if closed and not (word[0].isupper() and before and closed in "TP" and last == "X"):
        return closed
    if word[0].isupper() and (before or _is_name(word, low, after)):
        return "J" if low in words.NATIONALITIES and after[0].islower() else "X"
    return _open_class_tag(low, before, last, after)


def _closed_class_tag(low: str, before: list[Token], last: str, after: str) -> str:
    if low in words.AUXILIARIES:
        return "A" if last not in "D" or low not in ("can", "might", "will", "may") else "N"
    if low in words.NOT_FINITE:
        return "B"
    if low == "i" and last == "X":
        return ""  # "King Edward I"
    if low in ("that", "this", "these", "those"):
        if low == "that" and (last in "NXVBGJT" or not after[0].islower()):
            return "S"
        return "R" if after.lower() in words.AUXILIARIES or base_form(after) else "D"
    if low in words.DETERMINERS:
        return "D"
    if low in words.CONJUNCTIONS:
        return "C"
    if low in ("since", "until", "as", "before", "after", "than", "so", "like"):
        return "P" if low not in ("so", "than") else "S"
    if low in words.SUBORDINATORS:
        return "S"
    if low in words.PREPOSITIONS:
        return "P"
    if low in words.PRONOUNS:
        return "R"
    if low in words.ADVERBS:
        return "J" if low in ("more", "most", "less", "much") and after[:1].islower() and last in "DP" else "T"
    return ""


def _is_name(word: str, low: str, after: str) -> bool:
    """Return whether the first word of a sentence, which has a capital in any case, is a name."""
    if low in MONTHS or low in words.NATIONALITIES or low in words.COUNTRIES or low in words.GIVEN_NAMES:
        return True
    if after[:1].isupper() and after[1:2] != ".":
        return not (_ADJECTIVE.match(low) or low.endswith(("ly", "ing", "ed", "s")))
    return low in words.TITLES or not word[1:].islower()


def _open_class_tag(low: str, before: list[Token], last: str, after: str) -> str:
    if low.endswith("ly") and len(low) > 4 and low not in ("family", "italy", "assembly", "supply", "monopoly", "july"):
        return "T" if low not in ("early", "only", "likely", "friendly") else "J"
    if low.endswith("ing") and (low in verbs.GERUNDS or len(low) > 5) and low not in _NOUNS_IN_ING:
        return "G" if last not in "DJ" else "N"
    verb = _verb_tag(low, before, last, after)
    if verb:
        return verb
    if low not in _NOT_ADJECTIVE and (low.endswith("-based") or _ADJECTIVE.match(low) or low in words.ORDINALS):
        return "J"
    return "N"


def _verb_tag(low: str, before: list[Token], last: str, after: str) -> str:
    previous = next((token for token in reversed(before) if token.tag != "T"), None)
    after_low = after.lower()
    if "-" in low:
        return ""
    if previous is None:
        return "B" if low in verbs.PARTICIPLES and after_low in words.PREPOSITIONS else ""
    helped = previous.tag in "AB" or previous.low in ("to", "not")
    if helped and (low in verbs.BASES or low in verbs.PARTICIPLES or low.endswith("ed")) and last not in "DJ":
        return "B"
    if low in verbs.PAST or (base_form(low) and low.endswith("ed")):
        if previous.tag in "NXR;" or previous.tag in ",CS'" or previous.tag == "#":
            amount = after[0] in "$£€" or after[0].isdigit()
            if low in verbs.NOUNY and not (amount or after_low in words.DETERMINERS or after_low in words.PREPOSITIONS):
                return ""
            return "V"
        return "B" if previous.tag in "PB" else "J" if low.endswith("ed") else "N"
    if low in verbs.PARTICIPLES:
        return "B"
    opens = (
        after_low in words.DETERMINERS or after_low in words.PREPOSITIONS or after_low in ("that", "it", "them", "him")
    )
    if low in verbs.THIRD:
        plain = low not in verbs.NOUNY
        single = previous.tag in "NXRSC," and not (
            previous.tag == "N" and previous.low.endswith("s") and previous.low[-2:-1] not in ("", "s", "u", "i")
        )
        if single and (opens or plain) and previous.low not in ("they", "we") and last not in "D'":
            return "V" if (plain and (previous.tag not in "C," or opens)) or (opens and previous.tag in "RS") else ""
    plural = previous.tag == "N" and previous.low.endswith("s")
    if low in verbs.BASES and opens and (previous.low in ("they", "we", "who") or plural):
        return "V" if low not in verbs.NOUNY or previous.tag == "R" else ""
    if low in verbs.BASES and plural and last == "N" and not any(token.tag in "AV" for token in before):
        return "V"  # the first finite verb after a plural: "farmers grow rice"
    return ""


def base_form(low: str) -> str | None:
    """Return the base of a finite verb form ("wrote" -> "write", "writes" -> "write"); None for other words."""
    return verbs.base_of_past(low) or verbs.base_of_third(low)


def joined(tokens: tuple[Token, ...] | list[Token]) -> str:
    """Join the words with spaces, except before punctuation, possessives and percent signs."""
    text = " ".join(token.text for token in tokens)
    return re.sub(r" ([,;:.%!?]|['’](?:s\b|(?= )))", r"\1", text)
