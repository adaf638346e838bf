"""Pair entity questions with paragraphs that name the entity and contain an answer (distant supervision).

As in Mintz et al. 2009, it is assumed and not known that the paragraph supports the answer. Stricter matches are more
often correct.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from data.reading_examples import ReadingExample
from generation.synthetic_questions.cloze import good_answer
from generation.synthetic_questions.passages import Passage, SourceArticle, paragraphs, passage_from

_SUBJECT: Final = re.compile(
    r"^(?:Where (?:did|was|is) (?:the headquarter of )?|Who (?:performed|founded|owns|was|is)(?: the author of)? |"
    r"What music label is |What position does |What kind of work does |What type of music does |"
    r"What is (?:the capital of )?|Wh(?:ich|at) (?:country|company|language) (?:was|is) )(.+?)"
    r"(?: die| born| educated| founded| located(?: in)?| represented by| created (?:in|by)| produced by|"
    r" written in| play| do| famous for| married to|'s child)?\?$"
)
_CAPITALS: Final = re.compile(r"[A-Z][\w.’'-]*(?: (?:of |the |de |von |van |and )?[A-Z0-9][\w.’'-]*)*")
# Words near the answer that indicate the relation, keyed by the question's words.
_HINTS: Final = (
    (" die?", "died death killed murdered deathbed buried assassinated d. –"),
    (" born?", "born native birth hails"),
    (" educated?", "educated studied university college school graduated attended degree student"),
    (" founded?", "founded formed established started founding founder began"),
    ("Who founded", "founded founder founders established founding started co-founded created"),
    ("married", "married wife husband spouse marriage wed"),
    ("child?", "son daughter children child father mother"),
    ("author", "by wrote author written novel book novelist writer"),
    ("capital", "capital seat"),
    ("headquarter", "headquarters headquartered based head office offices"),
    ("performed", "by album song single band singer recorded"),
    ("label", "label records signed released"),
    ("owns", "owned owner owns acquired bought subsidiary parent operated"),
    ("created by", "by created painted designed creator developed painting"),
    ("produced by", "by manufactured produced built developed made designed"),
    ("position", "plays played player"),
    ("work does", "is was"),
    ("music does", "band music singer genre album rapper"),
    ("famous for", "known best famous author wrote directed painted"),
    ("created in", "film series band novel album television show drama comedy"),
    ("written in", "language written novel book newspaper film song album"),
    ("located", "in located near situated of"),
)


def join_questions(
    articles: Iterable[SourceArticle], questions: Iterable[ReadingExample], *, seed: int, per_article: int = 3
) -> Iterator[ReadingExample]:
    """Yield each question with a paragraph that names its subject and has an answer near a word of the relation.

    A question's subject is the article's title or a name in the paragraph. About one question in five is paired with a
    paragraph of the article that does not answer it, as an unanswerable example. An article gives at most
    ``per_article`` examples, with different questions. The result depends only on the seed, the article and the
    questions about it.
    """
    by_subject: dict[str, list[ReadingExample]] = defaultdict(list)
    for question in questions:
        match = _SUBJECT.match(question.question)
        if match and len(match[1]) > 3:
            by_subject[match[1]].append(question)
    for article in articles:
        yield from _joined(article, by_subject, random.Random(f"{seed}:{article.title}:distant"), per_article)


def _joined(
    article: SourceArticle, by_subject: dict[str, list[ReadingExample]], rng: random.Random, most: int
) -> Iterator[ReadingExample]:
    name = re.sub(r"\s*\(.*?\)$", "", article.title)
    subjects = [name] if name in by_subject else []
    subjects += sorted({m for m in _CAPITALS.findall(article.text) if m in by_subject and m != name and " " in m})
    if not subjects:
        return
    lines = paragraphs(article)
    count = 0
    for subject in subjects:
        for question in by_subject[subject]:
            if count == most:
                return
            example = _example(article.title, subject, subject == name, question, lines, rng)
            if example is not None:
                count += 1
                yield example


def _example(
    title: str, subject: str, about: bool, question: ReadingExample, lines: list[str], rng: random.Random
) -> ReadingExample | None:
    hints = next((hint.split() for mark, hint in _HINTS if mark in question.question), [])
    holding = [
        i for i, line in enumerate(lines) if (about or subject in line) and any(a in line for a in question.answers)
    ]
    for passage in (passage_from(lines, i) for i in holding[:4]):
        for answer in question.answers if passage is not None else ():
            if (
                passage is not None
                and answer.lower() not in subject.lower()
                and good_answer(answer, passage.low)
                and _near(answer, subject, about, hints, passage)
            ):
                if rng.random() < 0.2:
                    others = [
                        i
                        for i, line in enumerate(lines)
                        if len(line) > 300 and not any(a.lower() in line.lower() for a in question.answers)
                    ]
                    other = passage_from(lines, rng.choice(others)) if others else None
                    if other is not None and all(a.lower() not in other.low for a in question.answers):
                        return ReadingExample(question.question, (), other.text, title, False, "wiki_distant")
                at = passage.low.index(answer.lower())
                shown = passage.text[at : at + len(answer)]
                return ReadingExample(question.question, (shown,), passage.text, title, True, "wiki_distant")
    return None


def _near(answer: str, subject: str, about: bool, hints: list[str], passage: Passage) -> bool:
    """Return whether the answer's sentence has a hint, and the subject unless the article is about it (``about``)."""
    at = passage.low.index(answer.lower())
    start, end = next(((s, e) for s, e in passage.spans if s <= at < e), (0, len(passage.text)))
    sentence = passage.low[start:end]
    hinted = not hints or any(re.search(rf"(?<!\w){re.escape(hint)}", sentence) for hint in hints)
    return hinted and (about or subject.lower() in sentence)
