"""Representation of a sentence for the rules: content words, prepositions, negations, quantifiers, voice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluation.contrast.stems import is_irregular, stem
from evaluation.language.normalise import Token, fold, tokenise
from evaluation.language.value_extraction import find_values
from evaluation.language.values import Value
from model.english import word_set

_EMPTY = word_set(
    "a an the this that these those it its they them their he him his she her hers we us our you your i my me is "
    "are was "
    "were be been being am do does did done has have had having will would shall should can could may might must "
    "and or "
    "but so as also then there here very just too s t which who whom whose what if because while although though "
    "whereas "
    "however than not n't no never none nor neither cannot all every each some any only both such own other more "
    "most less "
    "least fewer fewest about of in on at to for from by with until till before after since during into onto over "
    "under "
    "above below up down off out through between among against within without per via across along around near"
)
PREPOSITIONS = word_set(
    "of in on at to for from by with until till before after since during into onto over under above below off through "
    "between among against within without per via across along around near than as"
)
_JOINING = word_set("before after until till because than if unless since when")
_NEGATIONS = word_set("not never no none neither nor cannot nobody nothing nowhere without hardly scarcely barely")
_NOT_NEGATING = {
    "not": word_set("only just merely necessarily until"),
    "no": word_set("later more less fewer longer doubt matter earlier sooner one , . ; : -") | {""},
    "without": word_set("doubt exception"),
}
_HOLDING = frozenset(map(stem, ("included", "contained", "listed", "mentioned", "covered", "described", "stored")))
_BE = word_set("is are was were be been being am get gets got")
_CLAUSE_MARKS = frozenset({";", ":", ".", "!", "?", "(", ")", "-"})
_TURNS = word_set("but while whereas although though however yet")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\n+")


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A content word.

    index: index of its token. role: preposition that begins its phrase, "" without one.
    """

    stem: str
    word: str
    index: int
    role: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed sentence or clause.

    items: content words. words: all lower-case words. values: numbers, dates, times and ranges.
    joints: (word, token index) of words that order two sides ("before", "because").
    denials: token indices of negations.
    passive: token indices of passive verbs with a named agent.
    after_be: token indices of participles after a form of "be".
    """

    text: str
    tokens: tuple[Token, ...]
    items: tuple[ContentWord, ...]
    words: frozenset[str]
    joints: tuple[tuple[str, int], ...]
    denials: tuple[int, ...]
    passive: frozenset[int]
    after_be: frozenset[int]
    values: tuple[Value, ...]

    @property
    def stems(self) -> frozenset[str]:
        """Distinct stems of the content words."""
        return frozenset(i.stem for i in self.items)


@lru_cache(maxsize=4096)
def statements(text: str) -> tuple[Statement, ...]:
    """Parse the sentences of a text, each followed by its clauses if it has several."""
    found: list[Statement] = []
    for sentence in _SENTENCE_END.split(text):
        tokens = tokenise(fold(sentence))
        if not tokens:
            continue
        found.append(_statement(sentence, tokens))
        clauses = _clauses(tokens)
        if len(clauses) > 1:
            found.extend(_statement(sentence, part) for part in clauses)
    return tuple(found)


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the sentences that ``statements`` parses, without surrounding white space."""
    cuts = [0, *(index for m in _SENTENCE_END.finditer(text) for index in m.span()), len(text)]
    return tuple((start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True) if text[start:end].strip())


@lru_cache(maxsize=4096)
def statement(text: str) -> Statement:
    """Parse a complete text as one statement."""
    return _statement(text, tokenise(fold(text)))


def _clauses(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    parts: list[list[Token]] = [[]]
    for index, token in enumerate(tokens):
        joined = token.lower in ("and", ",") and _begins_clause(tokens, index + 1)
        if token.text in _CLAUSE_MARKS or token.lower in _TURNS or joined:
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts if len(part) > 2]


def _begins_clause(tokens: Sequence[Token], start: int) -> bool:
    """Return whether a subject and a form of "be", "do" or the like follow within a few words."""
    window = [t.lower for t in tokens[start : start + 6]]
    return any(
        w in _BE or w in ("do", "does", "did", "has", "have", "had", "can", "may", "must", "will") for w in window[1:]
    )


def _statement(text: str, tokens: Sequence[Token]) -> Statement:
    items: list[ContentWord] = []
    joints: list[tuple[str, int]] = []
    denials: list[int] = []
    passive: set[int] = set()
    after_be: set[int] = set()
    for index, token in enumerate(tokens):
        word = token.lower
        if word in _JOINING:
            joints.append((word, index))
        if _negates(tokens, index):
            denials.append(index)
        if token.kind == "mark" and word != "%":
            continue
        single = len(token.text) == 1 and token.text.isupper() and token.kind == "word" and index > 0 and word != "i"
        if (word in _EMPTY and not single) or word.endswith("n't"):
            continue
        items.append(ContentWord(stem(token.number.replace(",", "") or word), word, index, _role(tokens, index)))
        if _is_passive(tokens, index):
            passive.add(index)
        if _is_participle(word) and any(t.lower in _BE for t in tokens[max(0, index - 3) : index]):
            after_be.add(index)
    words = frozenset(t.lower for t in tokens)
    return Statement(
        text,
        tuple(tokens),
        tuple(items),
        words,
        tuple(joints),
        tuple(denials),
        frozenset(passive),
        frozenset(after_be),
        find_values(tokens),
    )


def _negates(tokens: Sequence[Token], index: int) -> bool:
    word = tokens[index].lower
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if word.endswith("n't"):
        return following not in _NOT_NEGATING["not"]
    return word in _NEGATIONS and following not in _NOT_NEGATING.get(word, frozenset())


def _role(tokens: Sequence[Token], index: int) -> str:
    """Return the preposition that begins a word's phrase. A verb or punctuation mark before it ends the search."""
    for back in range(1, 5):
        if index - back < 0:
            return ""
        token = tokens[index - back]
        if token.lower in PREPOSITIONS:
            return token.lower
        if token.kind == "mark" or token.lower in _BE or token.lower in ("and", "or"):
            return ""
    return ""


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ught")) or (is_irregular(word) and not word.endswith("s"))


def _is_passive(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a word is between a form of "be" and "by": "was bought in May by"."""
    if not _is_participle(tokens[index].lower):
        return False
    before = [t.lower for t in tokens[max(0, index - 3) : index]]
    after = [t.lower for t in tokens[index + 1 : index + 6]]
    holds_in = stem(tokens[index].lower) in _HOLDING and after[:1] == ["in"]
    return any(w in _BE for w in before) and ("by" in after or holds_in)
