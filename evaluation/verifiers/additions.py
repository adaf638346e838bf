"""Find statements that a sentence adds to its answer: relative clauses, appositions, reasons, sources.

"21 days, as the book of the harbour says" gives the reference and adds a statement that no reference judges. Each
addition becomes a claim that is judged by evidence. The rules are for English: a sentence is split at commas, brackets,
dashes and conjunctions. The shortest sequence of parts that answers is left out. So is a part without words beyond
those of the question, the references and the answering part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from evaluation.claims.splitting import noun_before
from evaluation.language.finite_verbs import has_verb
from evaluation.verifiers.source_words import SOURCE_WORDS, content_and_numbers
from model.english import word_set
from retrieval.chunking.sentences import Span

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|\w+(?:['’.-]\w+)*|[^\w\s]")
_BREAKS = frozenset(",;()[]–—")
_SUBORDINATORS = word_set("because although though whereas unless")
_RELATIVES = word_set("who whom whose which")
_SPEAKING = word_set(
    "say says said state states stated mention mentions mentioned report reports reported note notes noted write "
    "writes wrote written describe describes described explain explains explained show shows shown show claim claims "
    "claimed tell tells told put puts know knows known call calls called announce announced confirm confirmed"
)
_JOINTS = word_set("and but while so")
_SUBJECTS = word_set("the a an it he she they we this these those there its his her their our each every")
_ARTICLES = word_set("a an the")
_REACH = 8
_MOST_PARTS = 24


def additions(sentence: str, known: Sequence[str], answers: Callable[[str], bool]) -> tuple[Span, ...]:
    """Return the spans of the sentence that add to its answer.

    known: texts of question and references. An addition must say more than these.
    answers: returns whether a text gives the answer.

    A clause with its own subject is returned alone. A part without a subject ("who was born in Paris", "a baker") is
    returned with the answering part. The result is empty if the sentence has one part, or if only the entire sentence
    answers.
    """
    parts = _parts(sentence)
    if not 1 < len(parts) <= _MOST_PARTS:
        return ()
    answering = _answering(sentence, parts, answers)
    if answering is None:
        return ()
    core = sentence[parts[answering.start].start : parts[answering.stop - 1].end]
    known_words = SOURCE_WORDS.union(*(content_and_numbers(text) for text in (*known, core)))
    found: list[Span] = []
    begins: list[int] = []
    end = parts[answering.stop - 1].end
    for index, part in enumerate(parts):
        text = sentence[part.start : part.end]
        if index in answering or not content_and_numbers(text) - known_words:
            continue
        if index > answering.start and _has_subject(text):
            found.append(part)
            continue
        end = max(end, part.end)
        start = min(part.start, parts[answering.start].start)
        begins.append(_noun_start(sentence, part, start) if index == answering.stop else start)
    return (Span(min(begins), end), *found) if begins else tuple(found)


def _noun_start(sentence: str, part: Span, start: int) -> int:
    """Return the start of the noun phrase that a relative clause or apposition modifies; ``start`` if there is none."""
    first = _TOKEN.match(sentence, part.start)
    if first is None or first.group().casefold() not in _RELATIVES | _ARTICLES:
        return start
    tokens = [Span(m.start(), m.end()) for m in _TOKEN.finditer(sentence, start, part.start)]
    if tokens and sentence[tokens[-1].start] in _BREAKS:
        tokens.pop()
    noun = noun_before(sentence, tokens, len(tokens)) if len(tokens) > 1 else None
    return start if noun is None else tokens[noun].start


def _has_subject(text: str) -> bool:
    """Return whether a part is a clause with its own subject after its conjunction: "and the ferry sails daily"."""
    words = [m.group() for m in _TOKEN.finditer(text)]
    joined = 0
    while joined < len(words) and words[joined].casefold() in _JOINTS | _SUBORDINATORS:
        joined += 1
    words = words[joined:]
    if not joined or len(words) < 3:
        return False
    return (words[0].casefold() in _SUBJECTS or words[0][0].isupper()) and has_verb(" ".join(words[1:]))


def _answering(sentence: str, parts: Sequence[Span], answers: Callable[[str], bool]) -> range | None:
    """Return the first of the shortest sequences of parts that answer; None if only all parts together do."""
    for length in range(1, len(parts)):
        for start in range(len(parts) - length + 1):
            if answers(sentence[parts[start].start : parts[start + length - 1].end]):
                return range(start, start + length)
    return None


def _parts(sentence: str) -> list[Span]:
    tokens = [Span(m.start(), m.end()) for m in _TOKEN.finditer(sentence)]
    words = [sentence[t.start : t.end].casefold() for t in tokens]
    cuts = {0, *_cuts(words), len(tokens)}
    bounds = sorted(cuts)
    parts = []
    for first, last in pairwise(bounds):
        kept = [i for i in range(first, last) if words[i][0].isalnum()]
        if kept:
            parts.append(Span(tokens[kept[0]].start, tokens[kept[-1]].end))
    return parts


def _cuts(words: Sequence[str]) -> Iterator[int]:
    """Yield the indices of tokens that begin a part."""
    for index, word in enumerate(words):
        after = words[index + 1 : index + 1 + _REACH]
        if word in _BREAKS:
            yield index + 1
        elif (
            word in _SUBORDINATORS
            or (word in _RELATIVES and index > 1)
            or (word == "as" and any(w in _SPEAKING for w in after))
            or (word in _JOINTS and has_verb(" ".join(_until_break(after))))
            or (word == "according" and after[:1] == ["to"])
        ):
            yield index


def _until_break(words: Sequence[str]) -> Sequence[str]:
    return words[: next((i for i, w in enumerate(words) if w in _BREAKS), len(words))]
