"""Split text into words for BM25."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import Stemmer

from retrieval.chunking.scripts import UNSPACED, VOWEL_SIGNS
from retrieval.sparse.stop_words import STOP_WORDS

Cjk = Literal["runs", "bigrams", "auto"]

# Letters and digits of any script; punctuation, white space and the underscore are separators.
_WORD = re.compile(r"[^\W_]+")
_WORD_WITH_SIGNS = re.compile(f"(?:[^\\W_]|[{VOWEL_SIGNS}])+")
_RUNS = re.compile(f"([{UNSPACED}]+)")
# 1,000.50 and 3.14: digits with single points or commas inside, not part of a longer sequence such as 1.2.3.
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)+(?![\w]|[.,]\d)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# parseHTTPResponse2 -> parse HTTP Response 2: split before an upper-case letter that starts a word, and around digits.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class TokenisingParams:
    """Parameters of tokenisation. The same value must be used for the index and the query.

    stemming: language of the Snowball stemmer, or "none". stop_words: language of the stop words to remove, or "none".
    cjk: treatment of a run of a script without spaces (Chinese, Japanese, Korean, Thai, ...). "runs" keeps it as one
    word; "bigrams" splits it into overlapping pairs of characters and makes vowel signs of Thai and Indic scripts part
    of words; "auto" is "bigrams" if the indexed documents contain such scripts, and otherwise "runs". numbers: add
    1,000.50 as "1000.50" in addition to its parts. code: add the full snake_case identifiers and the parts of
    camelCase identifiers, unstemmed.
    """

    stemming: str = "english"
    stop_words: str = "english"
    cjk: Cjk = "runs"
    numbers: bool = False
    code: bool = False

    def __post_init__(self) -> None:
        if self.stemming != "none" and self.stemming not in Stemmer.algorithms():
            raise ValueError(f"stemming must be 'none' or one of {', '.join(_languages())}, not {self.stemming!r}")
        if self.stop_words != "none" and self.stop_words not in STOP_WORDS:
            raise ValueError(f"stop_words must be 'none' or one of {', '.join(STOP_WORDS)}, not {self.stop_words!r}")
        if self.cjk not in get_args(Cjk):
            raise ValueError(f"cjk must be 'runs', 'bigrams' or 'auto', not {self.cjk!r}")


def for_language(language: str) -> TokenisingParams:
    """Return the parameters for a language: its stemmer and stop words, if available, and bigrams.

    Raises ValueError, listing the languages, if there is neither a stemmer nor a list of stop words.
    """
    stemming = language if language in Stemmer.algorithms() else "none"
    stop_words = language if language in STOP_WORDS else "none"
    if (stemming, stop_words) == ("none", "none") and language not in ("chinese", "japanese", "korean", "thai", "none"):
        raise ValueError(
            f"there is neither a stemmer nor a list of stop words for {language!r}: {', '.join(_languages())}"
        )
    return TokenisingParams(stemming, stop_words, cjk="bigrams")


def tokenise(text: str, params: TokenisingParams) -> tuple[str, ...]:
    """Return the lower-case words of the text in order; may be empty. Use the same parameters for index and query."""
    return next(iter(tokenise_all((text,), params)))


def tokenise_all(texts: Iterable[str], params: TokenisingParams) -> Iterable[tuple[str, ...]]:
    """Yield the words of each text; see ``tokenise``."""
    # A Stemmer keeps a cache and is not thread-safe, so every call creates its own.
    stem: Callable[[list[str]], list[str]] | None = None
    if params.stemming != "none":
        stem = Stemmer.Stemmer(params.stemming).stemWords
    stop = STOP_WORDS.get(params.stop_words, frozenset())
    for text in texts:
        # Normalise to NFKC, so that combining accents, ligatures and full-width letters do not change a word.
        normal = unicodedata.normalize("NFKC", text)
        words = (_WORD if params.cjk == "runs" else _WORD_WITH_SIGNS).findall(normal.lower())
        if params.cjk != "runs":
            words = [part for word in words for part in _bigrams(word)]
        kept = [word for word in words if word not in stop]
        if stem is not None:
            kept = stem(kept)
        if params.numbers:
            kept.extend(_numbers(normal))
        if params.code:
            kept.extend(_identifiers(normal))
        yield tuple(kept)


def _bigrams(word: str) -> Iterator[str]:
    """Yield the overlapping pairs of each run of a script without spaces.

    A run of one character and text in other scripts are unchanged.
    """
    for i, part in enumerate(_RUNS.split(word)):
        if i % 2 == 0 or len(part) < 2:
            if part:
                yield part
        else:
            yield from (part[j : j + 2] for j in range(len(part) - 1))


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers that contain points or commas, without thousands separators."""
    for number in _NUMBER.findall(text):
        yield number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _identifiers(text: str) -> Iterator[str]:
    """Yield the forms of identifiers that are not plain words: full snake_case names and parts of camelCase names."""
    for name in _IDENTIFIER.findall(text):
        if len(name) > 200:
            continue
        pieces = [piece for piece in name.split("_") if piece]
        if len(pieces) > 1:
            yield name.lower()
        for piece in pieces:
            parts = [part for part in _HUMP.split(piece) if part]
            if len(parts) > 1:
                yield from (part.lower() for part in parts)


def _languages() -> tuple[str, ...]:
    return tuple(sorted({*Stemmer.algorithms(), *STOP_WORDS}))


LANGUAGES: Mapping[str, TokenisingParams] = MappingProxyType(
    {language: for_language(language) for language in (*_languages(), "chinese", "japanese", "korean", "thai")}
)
"""Recommended tokenisation for each known language."""
