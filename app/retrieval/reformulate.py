"""Reformulate queries with the generator: paraphrases, hypothetical passages, and follow-up queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import AppError
from evaluation.runs.seeds import derive_seed
from generation.decoding.params import SamplingParams
from generation.generator import Generator
from retrieval.chunking.chunks import RetrievedChunk

_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*")
_ENOUGH = "ENOUGH"


def check_can_write(generator: Generator) -> None:
    """Raise AppError for an embedded reader, which copies words of passages and cannot write text."""
    if generator.name.startswith("plumbline-reader"):
        raise AppError(
            f"{generator.name} only copies words of passages, so it can write neither rewrites nor passages: "
            "give a decoder with --model FOLDER"
        )


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A function that writes at most ``count`` paraphrases of a question."""

    generator: Generator
    count: int
    seed: int = 0

    @property
    def name(self) -> str:
        """Name in the settings of a search."""
        return f"{self.count} rewrites by {self.generator.name}"

    def __call__(self, question: str) -> Sequence[str]:
        """Return the paraphrases without leading numbers or bullets. There may be none."""
        task = f"Write the following search query in {self.count} other ways, one a line, nothing else.\n\n{question}"
        text = _written(self.generator, task, (), 48 * self.count, self.seed, question)
        lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
        return tuple(dict.fromkeys(line for line in lines if line))[: self.count]


@dataclass(frozen=True, slots=True)
class HypotheticalPassageWriter:
    """A function that writes hypothetical passages that might answer a question (HyDE).

    The passages need not be true, because only their similarity to documents matters. count: number of passages.
    max_tokens: maximum length of a passage in tokens.
    """

    generator: Generator
    count: int
    seed: int = 0
    max_tokens: int = 96

    @property
    def name(self) -> str:
        """Name in the settings of a search."""
        return f"{self.count} passages by {self.generator.name}"

    def __call__(self, question: str) -> Sequence[str]:
        """Return the passages, which are sampled at temperature 0.7 so that they differ."""
        task = f"Write a short passage that answers the question.\n\nQuestion: {question}\n\nPassage:"
        prompt = self.generator.prompt(task, (), self.max_tokens)
        params = SamplingParams(temperature=0.7, max_tokens=self.max_tokens, n=self.count, seed=self.seed)
        seeds = [derive_seed(self.seed, question, "hyde", "", sample) for sample in range(self.count)]
        return tuple(drawn.text.strip() for drawn in self.generator.generate(prompt, params, seeds))


@dataclass(frozen=True, slots=True)
class NextQueryWriter:
    """A function that writes the next search query from the chunks retrieved so far."""

    generator: Generator
    seed: int = 0

    @property
    def name(self) -> str:
        """Name in the settings of a search."""
        return f"asked again by {self.generator.name}"

    def __call__(self, question: str, found: Sequence[RetrievedChunk]) -> str | None:
        """Return a query, or None if the model says that the passages are sufficient."""
        task = (
            f"Question: {question}\nWhat must be searched for next to answer it? Write one short search query, or "
            f"{_ENOUGH} if the passages answer it."
        )
        text = _written(self.generator, task, found, 32, self.seed, question)
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return None if not first or _ENOUGH in first.upper() else _BULLET.sub("", first)


def _written(
    generator: Generator, task: str, chunks: Sequence[RetrievedChunk], max_tokens: int, seed: int, question: str
) -> str:
    """Return the text of greedy generation, so that the same question gives the same search."""
    prompt = generator.prompt(task, chunks, max_tokens)
    params = SamplingParams(temperature=0.0, max_tokens=max_tokens, seed=seed)
    return generator.generate(prompt, params, [derive_seed(seed, question, "rewrite", "", 0)])[0].text
