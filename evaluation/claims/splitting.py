"""Rule-based splitting of sentences into simpler claims, each of which is complete by itself.

Split: clauses with their own subject after "and", "but", "while", "whereas" or a semicolon, and a relative clause at
the end of a sentence (", which ..."). The relative clause keeps its noun, so two claims may share words. Not split:
parts that would lose their subject ("was built and sold"), condition ("if"), speaker ("said that") or alternative
("either ... or"). Pronouns are not resolved. A claim remains a substring of the completion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evaluation.claims.extraction import Extraction
from evaluation.claims.sentences import extract_sentences
from evaluation.language.finite_verbs import FINITE, is_finite
from evaluation.outcomes import Claim
from model.english import word_set
from retrieval.chunking.sentences import Span

VERSION = 1
_TOKEN = re.compile(r"\w+(?:['’.-]\w+)*|[^\w\s]")
_PRONOUNS = word_set("it he she they we this these those there")
_DETERMINERS = word_set("the a an its his her their our each every both some most many several no all")
_SCOPES = word_set(
    "if unless whether because although though when whenever until since once either neither lest except said says "
    "claim claims claimed believes believed reported reports argues argued stated states thinks thought suggests "
    "suggested according alleges alleged denies denied supposedly allegedly reportedly assuming suppose provided like "
    "as than"
)
"""Words with scope beyond their clause: conditions, speakers, alternatives. A split would make the rest claim more."""
_JOINTS = word_set("and but while whereas")
_RELATIVES = word_set("which who where whose")
_OPEN, _CLOSE = "([{", ")]}"
_MIN_WORDS = 3
_MAX_SUBJECT_WORDS = 8
_MAX_NOUN_WORDS = 6


def extract_by(split: bool, text: str, question: str = "") -> Extraction:
    """Extract the claims of a completion: split further if ``split``, else one per sentence.

    question: question that the completion answers.
    """
    return extract_split_claims(text, question) if split else extract_sentences(text, question)


def split_name(split: bool) -> str:
    """Return the suffix of a verifier's name for this setting: empty without splitting."""
    return f" split/{VERSION}" if split else ""


def extract_split_claims(text: str, question: str = "") -> Extraction:
    """Extract claims by sentence and split each: ``text[c.start:c.end] == c.text`` for all.

    Claims are sorted by their start. Those of one sentence may overlap in a shared noun.
    """
    found = extract_sentences(text, question)
    claims = tuple(
        Claim(text[c.start + s.start : c.start + s.end], c.start + s.start, c.start + s.end)
        for c in found.claims
        for s in split_spans(c.text)
    )
    return Extraction(claims, found.refused, found.reason)


def split_spans(sentence: str) -> tuple[Span, ...]:
    """Return the spans of a sentence's simpler claims; the entire sentence if it is not split. Never empty."""
    tokens = [Span(m.start(), m.end()) for m in _TOKEN.finditer(sentence)]
    words = [sentence[t.start : t.end].casefold().replace("’", "'") for t in tokens]
    if not tokens:
        return (Span(0, len(sentence)),)
    clause_starts = _clause_starts(sentence, tokens, words)
    bounds = [0, *(start for _, start in clause_starts), len(tokens)]
    ends = [*(joint for joint, _ in clause_starts), len(tokens)]
    spans: list[Span] = []
    for first, last in zip(bounds, ends, strict=False):
        spans.extend(_with_relative(sentence, tokens[first:last], words[first:last]))
    if len(spans) < 2:
        return (Span(0, len(sentence)),)
    # The first and last claims keep the opening and closing marks of the sentence.
    spans[0] = Span(0, spans[0].end)
    if not clause_starts or spans[-1].end == tokens[-1].end:
        spans[-1] = Span(spans[-1].start, len(sentence))
    return tuple(spans)


def _clause_starts(sentence: str, tokens: Sequence[Span], words: Sequence[str]) -> list[tuple[int, int]]:
    """Return (end token of the previous clause, first token of the next) for each split."""
    found: list[tuple[int, int]] = []
    depth, begun = 0, 0
    quoted = False
    for index, word in enumerate(words):
        depth += (word in _OPEN) - (word in _CLOSE)
        quoted ^= word in '"“”'
        if depth or quoted or index < begun + _MIN_WORDS:
            continue
        if word == ";":
            joint, start = index, index + 1
            if start < len(words) and words[start] in _JOINTS:
                start += 1
        elif word in _JOINTS:
            joint, start = (index - 1 if words[index - 1] == "," else index), index + 1
        else:
            continue
        if _is_complete(words[begun:joint]) and _begins_clause(sentence, tokens, words, start):
            found.append((joint, start))
            begun = start
    return found


def _is_complete(words: Sequence[str]) -> bool:
    """Return whether a clause is complete: it has a finite verb and no word with scope beyond it."""
    return len(words) >= _MIN_WORDS and any(map(is_finite, words)) and not _SCOPES & set(words)


def _begins_clause(sentence: str, tokens: Sequence[Span], words: Sequence[str], start: int) -> bool:
    """Return whether a subject and its verb begin at token ``start``."""
    rest = words[start:]
    if len(rest) < _MIN_WORDS or _SCOPES & set(rest[:2]):
        return False
    if rest[0] in _PRONOUNS:
        return is_finite(rest[1]) or rest[1].endswith(("ed", "s"))
    if rest[0] not in _DETERMINERS and not sentence[tokens[start].start].isupper():
        return False
    for index, word in enumerate(rest[1 : _MAX_SUBJECT_WORDS + 1], start=1):
        if word in FINITE:
            return True
        if not word[0].isalnum() or word in _JOINTS or word in _RELATIVES:
            return False
        # "and the painted door": a participle right after its article is not a verb.
        if index > 1 and is_finite(word):
            return True
    return False


def _with_relative(sentence: str, tokens: Sequence[Span], words: Sequence[str]) -> Iterator[Span]:
    """Yield the span of a clause without its final relative clause, then that clause with the preceding noun.

    Yields one span if there is no such relative clause.
    """
    span = Span(tokens[0].start, tokens[-1].end)
    comma = _relative_comma(words)
    noun = noun_before(sentence, tokens, comma) if comma is not None else None
    if comma is None or noun is None or not _is_complete(words[:comma]):
        yield span
        return
    yield Span(span.start, tokens[comma - 1].end)
    yield Span(tokens[noun].start, span.end)


def _relative_comma(words: Sequence[str]) -> int | None:
    """Return the index of the comma before the only relative clause if it runs to the end, else None."""
    indices = [i for i in range(1, len(words) - 2) if words[i] == "," and words[i + 1] in _RELATIVES]
    if len(indices) != 1 or indices[0] < _MIN_WORDS:
        return None
    rest = words[indices[0] + 2 :]
    if any(word in {",", ";", ":"} or word in _OPEN or word in '"“”' for word in rest) or len(rest) < 2:
        return None
    return indices[0] if any(map(is_finite, rest)) or rest[0].endswith("s") else None


def noun_before(sentence: str, tokens: Sequence[Span], comma: int) -> int | None:
    """Return the first token of the noun phrase before a comma, to which a relative clause or apposition belongs.

    It is the article, or the first capitalised word of a name. None if there is no such noun phrase, or if the sentence
    begins with the name.
    """
    index = comma - 1
    if sentence[tokens[index].start].isupper():
        while index > 0 and sentence[tokens[index - 1].start].isupper():
            index -= 1
        before = sentence[tokens[index - 1].start : tokens[index - 1].end].casefold() if index else ""
        return index - 1 if before in _DETERMINERS else index if index else None
    for back in range(1, _MAX_NOUN_WORDS + 1):
        if comma - 1 - back < 0:
            return None
        word = sentence[tokens[comma - 1 - back].start : tokens[comma - 1 - back].end].casefold()
        if word in _DETERMINERS:
            return comma - 1 - back
        if not word[0].isalnum() or word in FINITE:
            return None
    return None
