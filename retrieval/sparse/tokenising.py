"""Text into the words that BM25 counts. Knows nothing of how they are weighted."""

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

# Letters and digits of any script; punctuation, white space and the underscore separate.
_WORD = re.compile(r"[^\W_]+")
_WORD_WITH_SIGNS = re.compile(f"(?:[^\\W_]|[{VOWEL_SIGNS}])+")
_RUNS = re.compile(f"([{UNSPACED}]+)")
# 1,000.50 and 3.14: digits with single points or commas inside, not part of a longer row such as 1.2.3.
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)+(?![\w]|[.,]\d)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# parseHTTPResponse2 -> parse HTTP Response 2: before an upper-case letter that begins a word, and around digits.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class TokenisingParams:
    """stemming: words to their stems, by Snowball's stemmer of that language. stop_words: leave out words that only
    bind, in that language; "none" for either.

    cjk: what becomes of a run of a script without spaces (Chinese, Japanese, Korean, Thai, ...): one word, or its
    overlapping pairs of characters, vowel signs of Thai and Indic scripts being part of words; "auto" is "bigrams" for
    an index whose documents have such scripts, and "runs" (which gives the same words then) for all others. numbers:
    1,000.50 as "1000.50" too, beside its parts. code: snake_case and camelCase identifiers whole and in parts,
    unstemmed. The same value must serve the index and the query.
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
    """Stemming and stop words of a language, as far as there are any, and pairs for scripts without spaces.

    Raises ValueError, listing the languages, for one that has neither.
    """
    stemming = language if language in Stemmer.algorithms() else "none"
    stop_words = language if language in STOP_WORDS else "none"
    if (stemming, stop_words) == ("none", "none") and language not in ("chinese", "japanese", "korean", "thai", "none"):
        raise ValueError(
            f"there is neither a stemmer nor a list of stop words for {language!r}: {', '.join(_languages())}"
        )
    return TokenisingParams(stemming, stop_words, cjk="bigrams")


def tokenise(text: str, params: TokenisingParams) -> tuple[str, ...]:
    """Lower-case words of the text in order; may be empty. The same parameters must serve the index and the query."""
    return next(iter(tokenise_all((text,), params)))


def tokenise_all(texts: Iterable[str], params: TokenisingParams) -> Iterable[tuple[str, ...]]:
    """``tokenise`` for many texts, lazily."""
    # A Stemmer keeps a cache and is not safe to share between threads, so every call has its own.
    stem: Callable[[list[str]], list[str]] | None = None
    if params.stemming != "none":
        stem = Stemmer.Stemmer(params.stemming).stemWords
    stop = STOP_WORDS.get(params.stop_words, frozenset())
    for text in texts:
        # NFKC first: the same word typed with combining accents, ligatures or full-width letters must be one token.
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
    """Overlapping pairs of each run of an unspaced script; a run of one character and everything else as it is."""
    for i, part in enumerate(_RUNS.split(word)):
        if i % 2 == 0 or len(part) < 2:
            if part:
                yield part
        else:
            yield from (part[j : j + 2] for j in range(len(part) - 1))


def _numbers(text: str) -> Iterator[str]:
    """Numbers with points or commas inside, whole, thousands' commas left out. Their digits stand as words already."""
    for number in _NUMBER.findall(text):
        yield number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _identifiers(text: str) -> Iterator[str]:
    """Of identifiers in several parts: what the plain words lack. snake_case lacks its whole, camelCase its parts."""
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
"""What to tokenise each known language with."""
