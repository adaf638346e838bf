"""Generate reading examples (questions with passages) from encyclopedia articles by rules."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data.reading_examples import ReadingExample
from generation.synthetic_questions.cloze import ClozeQuestion, cloze_questions
from generation.synthetic_questions.definitions import definition_questions
from generation.synthetic_questions.distant import join_questions
from generation.synthetic_questions.passages import Passage, SourceArticle, passages
from generation.synthetic_questions.recurring import recurring_questions
from generation.synthetic_questions.unanswerable import unanswerable

__all__ = ["ReadingMix", "SourceArticle", "generate_reading_examples", "join_questions"]


@dataclass(frozen=True, slots=True)
class ReadingMix:
    """The mix of generated examples.

    cloze, recurring, definition: relative weights of the kinds of questions. unanswerable: share of questions that are
    made unanswerable. noisy: share of cloze questions in an ungrammatical form. reworded: share of cloze questions with
    words replaced by synonyms. Raises ValueError for negative or all-zero weights, and for shares outside [0, 1].
    """

    cloze: float = 0.72
    recurring: float = 0.18
    definition: float = 0.10
    unanswerable: float = 0.27
    noisy: float = 0.12
    reworded: float = 0.3

    def __post_init__(self) -> None:
        weights = (self.cloze, self.recurring, self.definition)
        if min(weights) < 0 or sum(weights) <= 0:
            raise ValueError(f"weights must not be negative and not all zero, not {weights}")
        for name in ("unanswerable", "noisy", "reworded"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], not {getattr(self, name)}")


def generate_reading_examples(
    articles: Iterable[SourceArticle], *, seed: int, per_article: int, mix: ReadingMix | None = None
) -> Iterator[ReadingExample]:
    """Yield at most ``per_article`` examples of each article, which depend only on the seed and the article.

    mix: ReadingMix() if None. Raises ValueError if ``per_article`` is below 1.
    """
    if per_article < 1:
        raise ValueError(f"per_article must be at least 1, not {per_article}")
    for article in articles:
        yield from _examples(article, seed, per_article, mix or ReadingMix())


def _examples(article: SourceArticle, seed: int, count: int, mix: ReadingMix) -> Iterator[ReadingExample]:
    rng = random.Random(f"{seed}:{article.title}:{len(article.text)}")
    drawn = passages(article, max(2, (3 * count + 3) // 4), rng)
    if not drawn:
        return
    sources: dict[str, Iterator[ClozeQuestion]] = {
        "wiki_cloze": cloze_questions(article.title, drawn, count, mix.noisy, mix.reworded, rng),
        "wiki_recurring": recurring_questions(article, drawn, count, rng),
        "wiki_definition": definition_questions(article, rng),
    }
    weights = {"wiki_cloze": mix.cloze, "wiki_recurring": mix.recurring, "wiki_definition": mix.definition}
    questions: set[str] = set()
    left = [name for name in sources if weights[name] > 0]
    while left and len(questions) < count:
        source = rng.choices(left, [weights[name] for name in left])[0]
        one = next(sources[source], None)
        if one is None:
            left.remove(source)
            continue
        if one.question in questions:
            continue
        questions.add(one.question)
        yield _example(article.title, source, one, drawn, mix, rng)


def _example(
    title: str, source: str, cloze: ClozeQuestion, drawn: list[Passage], mix: ReadingMix, rng: random.Random
) -> ReadingExample:
    if rng.random() < mix.unanswerable and not (source == "wiki_definition" and cloze.kind == "phrase"):
        refused = unanswerable(cloze, drawn, rng)
        if refused is not None:
            return ReadingExample(refused.question, (), refused.context, title, False, source)
    return ReadingExample(cloze.question, (cloze.answer,), cloze.passage.text, title, True, source)
