"""Generate near misses, which are questions that the documents almost answer.

A year, a number or a name of an answerable question is replaced (Rajpurkar et al. 2018, table 1). A question is
generated only if no paragraph of the collection contains both the replacement and the question's other content.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from generation.english.words import COUNTRIES
from generation.question_sets.candidate import Candidate, SourceText
from generation.question_sets.prose import prose
from generation.synthetic_questions.names import name_spans
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.recurring import stems
from model.english import MONTHS, WEEKDAYS

_YEAR: Final = re.compile(r"(?<![\w,.])(?:1[1-9]\d\d|20\d\d)(?![\w,])")
_NUMBER: Final = re.compile(r"(?<![\w,.-])(\d{1,3})(\.\d)?(?![\w,.-])(?! (?:[A-Z]|per cent of)\w*)")
_NAME: Final = re.compile(r"(?<=[\w,'] )[A-Z][\w’-]+(?: (?:of |de |van |von )?[A-Z][\w’-]+)*(?: \d{1,2})?(?=[ ?,.'’;])")
_CALENDAR: Final = frozenset((*MONTHS, *WEEKDAYS))
_JOINED: Final = re.compile(r"(?:,| and| or) (?:the )?$")
_WORD: Final = re.compile(r"[^\W_][\w’-]*(?:\.\d+)?")
_STEPS: Final = (-12, -9, -7, -5, -4, 4, 5, 6, 8, 11)
_MOST_TRIES: Final = 12
_LAST_YEAR: Final = 2026


class NearMisses:
    """Derives near misses from the candidates of one collection.

    sources: all documents of the collection. The result depends on the sources, the candidate and the state of ``rng``.
    """

    def __init__(self, sources: Iterable[SourceText]) -> None:
        self._paragraphs: list[tuple[str, frozenset[str]]] = []
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._by_pattern: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self._persons: set[str] = set()
        self._joined: dict[str, set[str]] = defaultdict(set)
        for source in sources:
            for paragraph in prose(source.text):
                self._add(paragraph.passage)

    def derive(self, candidate: Candidate, rng: random.Random) -> Candidate | None:
        """Return an unanswerable version of the candidate; None if no change is safe."""
        changes = [self._other_year, self._other_number, self._other_name, self._other_name]
        rng.shuffle(changes)
        for change in changes:
            text = change(candidate, rng)
            if text is not None:
                return replace(
                    candidate, text=text, kind="unanswerable", references=(), based_on=candidate.text, clause=""
                )
        return None

    def _add(self, passage: Passage) -> None:
        number = len(self._paragraphs)
        self._paragraphs.append((passage.text, stems(passage.text)))
        for word in set(_WORD.findall(passage.text)):
            self._by_word[word].append(number)
        last: re.Match[str] | None = None
        for match in _NAME.finditer(passage.text):
            name = match.group()
            if name not in self._by_name and " " in name:
                for pattern in _patterns(name):
                    self._by_pattern[pattern].add(name)
            self._by_name[name].append(number)
            if last is not None and _JOINED.fullmatch(passage.text[last.end() : match.start()]):
                self._joined[name].add(last.group())
                self._joined[last.group()].add(name)
            last = match
        for tokens in passage.sentences:
            for span in name_spans(tokens):
                name = " ".join(token.text for token in tokens[span.start : span.end])
                if span.kind == "person" and 2 <= span.end - span.start <= 3 and "." not in name:
                    self._persons.add(name)

    def _other_year(self, candidate: Candidate, rng: random.Random) -> str | None:
        match = _YEAR.search(candidate.text)
        if match is None or candidate.answer_kind == "date":
            return None
        other = str(int(match.group()) + rng.choice(_STEPS))
        return self._replace_number(candidate, match, other) if int(other) <= _LAST_YEAR else None

    def _other_number(self, candidate: Candidate, rng: random.Random) -> str | None:
        match = _NUMBER.search(candidate.text)
        if match is None or match[1] == "1":
            return None
        other = f"{int(match[1]) + rng.choice((1, 2, 3))}{match[2] or ''}"
        return self._replace_number(candidate, match, other)

    def _replace_number(self, candidate: Candidate, match: re.Match[str], other: str) -> str | None:
        """Return the question with ``other`` at the match; None if a paragraph has it and two words of the question."""
        question_stems = stems(candidate.text)
        if any(len(question_stems & self._paragraphs[index][1]) >= 2 for index in self._by_word.get(other, ())):
            return None
        return candidate.text[: match.start()] + other + candidate.text[match.end() :]

    def _other_name(self, candidate: Candidate, rng: random.Random) -> str | None:
        matches = [m for m in _NAME.finditer(candidate.text) if self._by_name.get(m.group())]
        if not matches:
            return None
        match = rng.choice(matches)
        name = match.group()
        question_stems = stems(candidate.text.replace(name, " "))
        for other in self._similar(name, rng):
            if other in candidate.text or any(other in ref or ref in other for ref in candidate.references):
                continue
            if question_stems and not self._co_occurs(other, question_stems):
                before = _with_article(candidate.text[: match.start()], other)
                return before + other + candidate.text[match.end() :]
        return None

    def _similar(self, name: str, rng: random.Random) -> Iterator[str]:
        """Yield similar names in random order.

        These are countries, persons, members of the same list, and names that differ in one word.
        """
        if name.lower() in COUNTRIES:
            others = {other for other in self._by_name if other.lower() in COUNTRIES}
        elif name in self._persons:
            others = set(self._persons)
        else:
            words = name.split()
            others = {
                other
                for other in self._joined[name]
                if len(other.split()) == len(words) and (len(words) > 1 or len(self._by_name[other]) > 1)
            }
            if len(words) > 1:
                for pattern in _patterns(name):
                    others |= self._by_pattern.get(pattern, set())
        listed = sorted(o for o in others if o != name and o.lower() not in _CALENDAR and not o.startswith("The "))
        rng.shuffle(listed)
        yield from listed[:_MOST_TRIES]

    def _co_occurs(self, name: str, question_stems: frozenset[str]) -> bool:
        """Return whether a paragraph with the last word of the name shares a third of the question's content words."""
        own, minimum = stems(name), max(1, (len(question_stems) + 2) // 3)
        indices = self._by_word.get(name.split()[-1], ())
        return any(len((self._paragraphs[index][1] - own) & question_stems) >= minimum for index in indices)


def _with_article(text: str, name: str) -> str:
    """Return the text with the correct form of an article "a" or "an" at its end, before the name."""
    article = "an " if name[0] in "AEIO" else "a "
    return re.sub(r"(?<= )an? $", article, text)


def _patterns(name: str) -> list[tuple[str, ...]]:
    """Return the name with each word as a wildcard: "Heron 4" and "Heron 3" share ("Heron", "")."""
    words = name.split()
    return [(*words[:n], "", *words[n + 1 :]) for n in range(len(words))]
