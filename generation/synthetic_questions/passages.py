"""Split an article into passages of typical length, with their sentences."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from generation.english.tokens import Token, read_sentence
from generation.synthetic_questions.candidates import answer_spans
from generation.synthetic_questions.spans import AnswerSpan
from retrieval.chunking.sentences import sentence_spans

MIN_WORDS: Final = 55
MAX_WORDS: Final = 160
_MAX_CHARACTERS: Final = 1600
_BAD: Final = re.compile(r"[|{}<>=\[\]]|\(\)|http|formula_|\b\d+(?:\.\d+)?%.{0,30}\d%.{0,30}\d%")


@dataclass(frozen=True, slots=True)
class SourceArticle:
    """An encyclopedia article. text: one paragraph or heading per line."""

    title: str
    text: str


@dataclass(frozen=True)
class Passage:
    """A run of complete sentences. spans: start and end of each sentence, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @cached_property
    def sentences(self) -> tuple[tuple[Token, ...], ...]:
        """The tokens of each sentence."""
        return tuple(read_sentence(self.text, start, end) for start, end in self.spans)

    @cached_property
    def answers(self) -> tuple[tuple[AnswerSpan, ...], ...]:
        """The answer candidates of each sentence."""
        return tuple(tuple(answer_spans(tokens)) for tokens in self.sentences)

    @cached_property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    def without(self, sentence: int) -> str:
        """Return the text without one sentence."""
        start, end = self.spans[sentence]
        return f"{self.text[:start].rstrip()} {self.text[end:].lstrip()}".strip()


def paragraphs(article: SourceArticle) -> list[str]:
    """Return the lines that are prose: longer than 80 characters, ending in a full stop, and without markup."""
    lines = (line.strip() for line in article.text.split("\n"))
    return [line for line in lines if len(line) > 80 and line[-1] in ".!?\"'”)" and not _BAD.search(line)]


def passages(article: SourceArticle, most: int, rng: random.Random) -> list[Passage]:
    """Sample at most ``most`` passages without overlap, each of one to three paragraphs truncated to MAX_WORDS.

    With probability 1/2 the first paragraph, which introduces the title, is preferred.
    """
    lines = paragraphs(article)
    starts = list(range(len(lines)))
    rng.shuffle(starts)
    if lines and rng.random() < 0.5:
        starts.remove(0)
        starts.insert(0, 0)
    taken: set[int] = set()
    found: list[Passage] = []
    for start in starts:
        if len(found) == most:
            break
        end, count = start, 0
        while end < len(lines) and end - start < 3 and count < MIN_WORDS:
            count += len(lines[end].split())
            end += 1
        if count < MIN_WORDS or taken & set(range(start, end)):
            continue
        taken.update(range(start, end))
        passage = _cut("\n".join(lines[start:end]), rng)
        if passage is not None:
            found.append(passage)
    return found


def _cut(text: str, rng: random.Random | None) -> Passage | None:
    """Return a run of sentences that starts at a random one, or at the first one if ``rng`` is None.

    Returns None if there are fewer than two sentences.
    """
    spans = [(span.start, span.end) for span in sentence_spans(text[:_MAX_CHARACTERS])]
    if len(text) > _MAX_CHARACTERS:
        spans = spans[:-1]
    lengths = [len(text[start:end].split()) for start, end in spans]
    limit = rng.randint(80, MAX_WORDS) if rng else MAX_WORDS
    first = 0
    if rng and sum(lengths) > limit and rng.random() < 0.5:
        first = rng.randrange(len(spans))
        while first > 0 and sum(lengths[first:]) < limit:
            first -= 1
    total, last = 0, first
    while last < len(spans) and (total + lengths[last] <= limit or last - first < 2):
        total += lengths[last]
        last += 1
    if last - first < 2 or total > 2 * MAX_WORDS:
        return None
    offset = spans[first][0]
    kept = tuple((start - offset, end - offset) for start, end in spans[first:last])
    return Passage(text[offset : spans[last - 1][1]], kept)


def lead_passage(article: SourceArticle) -> Passage | None:
    """Return the first paragraphs, truncated to MAX_WORDS; None if there are too few words."""
    lines = paragraphs(article)
    return passage_from(lines, 0) if lines else None


def passage_from(lines: list[str], at: int) -> Passage | None:
    """Return paragraph ``at``, with the next one if it is short, truncated to MAX_WORDS; None if it is too short."""
    text = "\n".join(lines[at : at + 2]) if len(lines[at].split()) < MIN_WORDS else lines[at]
    return _cut(text, None) if len(text.split()) >= MIN_WORDS // 2 else None
