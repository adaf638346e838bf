"""Change human-written questions so that their passage no longer answers them (near misses).

A reader that learns to refuse only for passages on other topics compares topics. Near misses require it to use every
word of the question. The changes are those of SQuAD 2.0's annotators (Rajpurkar et al. 2018, table 1): an entity swap,
an impossible condition, a changed year or number, an antonym, a negation.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final

from data.reading_examples import ReadingExample
from generation.errors import GenerationError
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.unanswerable import perturbed

_NAME: Final = re.compile(r"(?<=[a-z,'] )[A-Z][\w’-]+(?: (?:of )?[A-Z][\w’-]+)*")
_WORDS: Final = re.compile(r"\w+")
_YEAR: Final = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_SHORTEST: Final = 200
"""Minimum number of characters of a context from which near misses are derived."""


def near_misses(examples: Sequence[ReadingExample], share: float, *, seed: int) -> list[ReadingExample]:
    """Return unanswerable versions of about a share ``share`` of the answerable examples.

    The result depends only on the examples and the seed. Raises GenerationError for a share outside [0, 1].
    """
    if not 0 <= share <= 1:
        raise GenerationError(f"the share of near misses is {share}: it must be in [0, 1]")
    answerable = [e for e in examples if e.answerable and len(e.context) >= _SHORTEST]
    rng = random.Random(f"near misses:{seed}")
    questions = []
    for example in answerable:
        if rng.random() >= share:
            continue
        other_contexts = [rng.choice(answerable).context for _ in range(4)]
        question = _changed(example, other_contexts, rng)
        if question is not None:
            questions.append(ReadingExample(question, (), example.context, example.title, False, example.source))
    return questions


def _changed(example: ReadingExample, other_contexts: Sequence[str], rng: random.Random) -> str | None:
    passage = Passage(example.context, ())
    drawn = [Passage(text, ()) for text in other_contexts]
    draw = rng.random()
    changed = None
    if draw < 0.45:
        changed = _other_entity(example, other_contexts, rng)
    elif draw < 0.65:
        changed = _impossible_condition(example, other_contexts, rng)
    if changed is None:
        changed = perturbed(example.question, passage, drawn, rng)
    return changed if changed is not None and _words(changed) != _words(example.question) else None


def _other_entity(example: ReadingExample, other_contexts: Sequence[str], rng: random.Random) -> str | None:
    """Return the question with another name in place of one of the passage's names; None if there is none.

    Names are matched in any case, since search queries are lower case.
    """
    question, low = example.question, example.question.lower()
    here = _names(example.context)
    mentioned = [name for name in here if re.search(rf"\b{re.escape(name.lower())}\b", low)]
    if not mentioned:
        return None
    name = max(rng.sample(mentioned, min(2, len(mentioned))), key=len)
    # A name of the same passage gives a harder question. A name in the answer would make the question trivial.
    near = [other for other in here if other.lower() not in low and not _answers(example, other)]
    far = sorted({other for text in other_contexts for other in _names(text) if other not in example.context})
    pool = near if near and (not far or rng.random() < 0.5) else far
    if not pool:
        return None
    other = rng.choice(pool)
    match = re.search(rf"\b{re.escape(name.lower())}\b", low)
    if match is None or name.lower() in other.lower():
        return None
    return question[: match.start()] + (other.lower() if question == low else other) + question[match.end() :]


def _impossible_condition(example: ReadingExample, other_contexts: Sequence[str], rng: random.Random) -> str | None:
    """Return the question with an added year or name that the passage does not have; None if there is none."""
    question = example.question.rstrip(" ?")
    mark = example.question[len(question) :]
    if rng.random() < 0.5:
        if _YEAR.search(question) or question.lower().startswith("when"):
            return None
        years = _YEAR.findall(example.context) or [str(rng.randint(1850, 2015))]
        year = str(int(rng.choice(years)) + rng.choice((-40, -12, -5, -2, 3, 6, 15, 50)))
        return f"{question} in {year}{mark}" if year not in example.context else None
    far = sorted({name for text in other_contexts for name in _names(text) if name not in example.context})
    if not far:
        return None
    name = rng.choice(far)
    word = rng.choice(("for", "in", "with", "before", "after", "according to"))
    return f"{question} {word} {name.lower() if question == question.lower() else name}{mark}"


def _names(text: str) -> list[str]:
    return sorted({match.group() for match in _NAME.finditer(text)})


def _answers(example: ReadingExample, name: str) -> bool:
    return any(name.lower() in answer.lower() or answer.lower() in name.lower() for answer in example.answers)


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())
