"""Generate questions that need two passages, from pairs of single-passage questions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from generation.question_sets.candidate import Candidate
from generation.synthetic_questions.recurring import stems

_MAX_WORDS: Final = 26


def bridge_questions(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield a question for each pair of candidates where the answer of one, a person, occurs in the other question.

    "Who succeeded X?" (Y) and "When did Y retire?" become "When did the person who succeeded X retire?". The two
    answers are in different sentences. Each candidate is used at most once as the question in which a name is replaced.
    """
    describing: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        name = candidate.references[0] if candidate.references else ""
        if candidate.clause and candidate.answer_kind == "person" and len(name.split()) > 1:
            describing[name].append(candidate)
    names = sorted(describing, key=len, reverse=True)
    for first in candidates:
        for name in names:
            if re.search(rf"(?<!\w){re.escape(name)}(?![\w’'])(?! [A-Z])", first.text) and name not in first.references:
                joined = next((m for d in describing[name] if (m := _joined(d, first, name)) is not None), None)
                if joined is not None:
                    yield joined
                break


def pair_questions(first: Candidate, second: Candidate) -> Candidate | None:
    """Return both questions as one: "When was X founded, and who succeeded Y?". The reference has both answers.

    Returns None if both ask about the same sentence or start with "What", or if the question would be too long.
    """
    if _same_sentence(first, second) or first.text[:4] == second.text[:4] == "What":
        return None
    head, _, rest = second.text.partition(" ")
    text = f"{first.text.rstrip('?')}, and {head[:1].lower()}{head[1:]} {rest}"
    if len(text.split()) > _MAX_WORDS or "According to" in text:
        return None
    answer = f"{first.references[0]} and {second.references[0]}"
    spans = (*first.places, *second.places)
    return Candidate(text, "two_passage", (answer,), spans, "pair", parts=(first, second))


def _joined(describing: Candidate, candidate: Candidate, name: str) -> Candidate | None:
    if _same_sentence(describing, candidate) or stems(describing.clause) & stems(candidate.text.replace(name, "")):
        return None
    relative = f"the person who {describing.clause}"
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda _: relative, candidate.text, count=1)
    text = text[:1].upper() + text[1:]
    if len(text.split()) > _MAX_WORDS or len(re.findall(re.escape(name), text)):
        return None
    spans = (*candidate.places, *describing.places)
    return replace(candidate, text=text, kind="two_passage", places=spans, parts=(candidate, describing), clause="")


def _same_sentence(one: Candidate, other: Candidate) -> bool:
    """Return whether both ask about the same sentence."""
    a, b = one.places[0], other.places[0]
    return a.document_id == b.document_id and a.sentence_start < b.sentence_end and b.sentence_start < a.sentence_end
