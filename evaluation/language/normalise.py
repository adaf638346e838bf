"""Normalise text for the reference verifier: folding, tokenisation, removal of words without meaning.

This follows SQuAD's normalisation (Rajpurkar et al. 2016: case, punctuation, articles, white space) with three changes,
because that one makes different answers equal. A decimal point is kept ("3.5" is not "35"). A sign is kept. An article
that ends a phrase, or that is a capital within one, is not removed ("vitamin A"). Accents and compatibility forms
(NFKC) are also folded.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.language.citation_marks import without_marks
from model.english import word_set

TokenKind = Literal["number", "word", "mark"]

_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-") | {"⁄": "/"})
_MATH = re.compile(r"\\[()\[\]]|(?<!\w)\$(?=[^$\s\d][^$]*\$)|\\text\b|\\,")
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:[.:]\d+)*)(?P<suffix>[^\W\d_]\w*)?"
    r"|(?P<acronym>(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?)"
    r"|(?P<word>[^\W\d_]\w*(?:'\w+)*(?:\+\+|\#(?!\w))?)"
    r"|(?P<mark>\S)"
)

_SHORT_NAMES = {"St": "saint", "st": "saint", "Ste": "sainte", "Mt": "mount", "Ft": "fort"}
STOP_WORDS = word_set(
    "a an the of in on at to for from by with and or as is are was were be been being it its this that these those "
    "there their they he she his her him we our you your i my me do does did has have had will would can could "
    "should may might must which who whom whose what when where why how than then so if about into over under per "
    "up out s"
)
LONGEST_NUMBER = 300
"""Maximum number of characters of a number (digits and marks). A longer one is treated as a word."""
_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or one punctuation mark of a folded text.

    lower: the lower-case form, for comparison.
    start, end: character offsets in the folded text.
    number: the digits as written ("1,200"); "" for other tokens.
    suffix: the letters attached to the digits ("40km", "3rd").
    """

    text: str
    lower: str
    start: int
    end: int
    kind: TokenKind
    number: str = ""
    suffix: str = ""


_GROUPED_EUROPEAN = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d.,]*\d)")  # 1.234,5
_GROUPED_TWICE = re.compile(r"(?<![\w.,])\d{1,3}\.\d{3}\.\d{3}(?![\d.,]*\d)")  # 1.234.567 (four groups: an address)
_GROUPED_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+,\d{1,2}(?![\d.,]*\d)")  # 1 234,50
_GROUPED_SWISS = re.compile(r"(?<![\w.,])\d{1,3}(?:'\d{3})+(?![\d']*\d)")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d{1,2}|\d{4,})(?![\d,]*\d)")  # 12,5


def _numbers_as_english(text: str) -> str:
    """Rewrite numbers in continental European notation as English ones: 1.234,5 becomes 1234.5."""
    if "," in text or "." in text or "'" in text:
        for pattern in (_GROUPED_EUROPEAN, _GROUPED_SPACED):
            text = pattern.sub(lambda m: re.sub("[. ]", "", m.group()).replace(",", "."), text)
        text = _GROUPED_TWICE.sub(lambda m: m.group().replace(".", ""), text)
        text = _GROUPED_SWISS.sub(lambda m: m.group().replace("'", ""), text)
        text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    return text


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in text)


def fold(text: str) -> str:
    """Fold a text: NFKC, no accents, uniform quotes and dashes, no citation marks. Case and punctuation are kept.

    Digits of other scripts become ASCII digits, and continental European numbers English ones. LaTeX math delimiters
    are removed.
    """
    text = _MATH.sub("", without_marks(text))
    # Many languages separate thousands by a space; a fraction must not be joined with its integer.
    text = re.sub(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"(?<=\d)(?=[¼½¾⅐-⅞])", " ", text)
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).translate(_DASHES)
    decomposed = unicodedata.normalize("NFD", text)
    bare = unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))
    return _numbers_as_english(_ascii_digits(bare))


def tokenise(folded: str) -> tuple[Token, ...]:
    """Return the words, numbers and marks of a folded text, in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(folded):
        text = match.group()
        kind: TokenKind = "number" if match["number"] else "mark" if match["mark"] else "word"
        lower = text.casefold()
        if match["acronym"]:
            lower = lower.replace(".", "")
        if text in _SHORT_NAMES:
            lower = _SHORT_NAMES[text]
        if kind == "word" and lower.endswith("'s"):
            lower = lower[:-2]
        number, suffix = match["number"] or "", (match["suffix"] or "").casefold()
        if len(number) > LONGEST_NUMBER:  # not a quantity, and Python limits the digits of a conversion
            kind, number, suffix = "word", "", ""
        found.append(Token(text, lower, match.start(), match.end(), kind, number, suffix))
    return tuple(found)


def is_article(tokens: Sequence[Token], index: int) -> bool:
    """Return whether tokens[index] is an article.

    An article is followed by a word and is not a capital "A" within a phrase (vitamin A).
    """
    token = tokens[index]
    if token.lower not in _ARTICLES or token.kind != "word":
        return False
    if index + 1 >= len(tokens) or tokens[index + 1].kind == "mark":
        return False
    return not (token.text == "A" and index > 0 and tokens[index - 1].kind != "mark")


def normal_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens without punctuation and articles.

    Minus signs, decimal points, currency and percent signs are kept.
    """
    tokens = tokenise(fold(text))
    kept: list[str] = []
    for index, token in enumerate(tokens):
        if token.kind == "mark":
            if token.text in "£$€¥₹₩%°" or is_sign(tokens, index):
                kept.append(token.text)
            elif token.text == "&":
                kept.append("and")
        elif not is_article(tokens, index):
            kept.append(token.lower.replace("'", "").replace(",", ""))
    return tuple(kept)


def is_sign(tokens: Sequence[Token], index: int) -> bool:
    """Return whether tokens[index] is a minus sign: attached to the following number, with a space before it."""
    if tokens[index].text != "-" or index + 1 >= len(tokens):
        return False
    following = tokens[index + 1]
    glued = following.kind == "number" and following.start == tokens[index].end
    return glued and (index == 0 or tokens[index - 1].end < tokens[index].start or tokens[index - 1].text in "(£$€¥")


def normalise(text: str) -> str:
    """Return the form compared for exact match: normal tokens joined by single spaces."""
    return " ".join(normal_tokens(text))


def singular(word: str) -> str:
    """Return a noun without its regular plural ending. Use it only to compare two nouns."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def token_f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over token multisets, in [0, 1].

    See Rajpurkar et al. 2016, section 6.1.
    """
    common = (Counter(answer) & Counter(reference)).total()
    if common == 0:
        return 0.0
    return 2.0 * common / (len(answer) + len(reference))
