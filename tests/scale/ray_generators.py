"""A generator that a worker of a cluster opens, which leaves a file for each call."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import RetrievedChunk


class Told:
    """A generator that returns a sentence of the first chunk or another text, depending on the seed.

    It writes a file to ``calls`` for each call. A call with the question ``deadly`` kills its worker, once or always.
    """

    name, fingerprint, context_length = "told", "told-1", 512

    def __init__(self, calls: Path | None = None, deadly: str = "", *, always: bool = False) -> None:
        self._calls, self._deadly, self._always = calls, deadly, always

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks[:2], start=1))
        return Prompt(question, shown, tuple(chunks[2:]), (101,) * len(question.split()))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        if self._calls is not None:
            (self._calls / f"{os.getpid()}-{uuid4().hex}").write_text(f"{prompt.question} {len(prompt.chunks)}")
            died = self._calls.parent / "died"
            if prompt.question == self._deadly and (self._always or not died.exists()):
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return tuple(Completion(_said(prompt, seed), (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)


def _said(prompt: Prompt, seed: int) -> str:
    chosen = random.Random(seed)
    known = prompt.chunks[0].text.split(". ") if prompt.chunks else []
    return chosen.choice([*known, f"It was built in {1900 + seed % 100} by pelicans"]).rstrip(".") + "."


def open_told(device: str, *, calls: Path, deadly: str = "", always: bool = False) -> Told:
    return Told(calls, deadly, always=always)
