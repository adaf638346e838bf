"""Generate questions for a passage and an answer with a language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, Generator, generate_many
from retrieval.chunking.chunks import RetrievedChunk

MAX_TOKENS: Final = 48
TEMPLATE: Final = "question_writing.jinja"
"""Prompt template in generation/prompts, with two examples written for this project, the passage and the answer."""
_PREFIX: Final = re.compile(r"^(?:question|q|\d+)\s*[:.)]\s*", re.IGNORECASE)
_QUESTION_START: Final = re.compile(
    r"^(?:who|whom|whose|what|which|when|where|why|how|in|on|at|to|from|for|by|of|with|under|during|is|are|was|were|do|"
    r"does|did|can|according)\b",
    re.IGNORECASE,
)
_MIN_WORDS, _MAX_WORDS = 4, 30


def write_questions(
    generator: Generator, items: Sequence[tuple[RetrievedChunk, str]], *, temperature: float, seed: int
) -> tuple[str, ...]:
    """Return the model's unedited output for each pair of passage and answer.

    generator: must use the prompt template TEMPLATE. seed: seed of the first pair; the next pair uses seed + 1. Raises
    the errors of the generator.
    """
    params = SamplingParams(temperature=temperature, max_tokens=MAX_TOKENS)
    tasks = [
        GenerationTask(generator.prompt(answer, (chunk,), MAX_TOKENS), params, (seed + number,))
        for number, (chunk, answer) in enumerate(items)
    ]
    return tuple(completions[0].text for completions in generate_many(generator, tasks))


def question_in(text: str) -> str | None:
    """Return the first question in a model's output, without "Question:" and quotation marks; None if there is none."""
    for line in text.splitlines():
        shown = _PREFIX.sub("", line.strip().strip('"“”*').strip()).strip('"“”* ')
        end = shown.find("?")
        if end < 0 or not _QUESTION_START.match(shown):
            continue
        question = shown[: end + 1]
        if _MIN_WORDS <= len(question.split()) <= _MAX_WORDS:
            return question[:1].upper() + question[1:]
    return None
