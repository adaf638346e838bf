"""The protocol every generator stands behind: the embedded reader, a Hugging Face decoder, a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


class Generator(Protocol):
    """Turns a question and chunks into a prompt, and a prompt into completions."""

    @property
    def name(self) -> str:
        """What a person calls it, e.g. ``plumbline-reader``."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and configuration: equal fingerprints draw the same tokens from the same seeds."""

    @property
    def context_length(self) -> int:
        """The context window Delta, in tokens."""

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """Fit the question and as many chunks as possible, in the order given, into context_length - max_new_tokens.

        Raises GenerationError if the question is empty or does not fit by itself.
        """

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """Draw one completion per seed (params.n and params.seed are not looked at), in the order of the seeds."""


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """A prompt, how to draw from it, and a seed for each completion. owner: whose request it is, where several share
    the generator; what was read for one owner is not reused for another."""

    prompt: Prompt
    params: SamplingParams
    seeds: tuple[int, ...]
    owner: str = ""


@runtime_checkable
class BatchGenerator(Protocol):
    """A generator that works on many prompts at once."""

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """What ``generate`` would return for each task, in order. The first error of any task is raised."""


def generate_many(generator: Generator, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
    """The completions of all tasks, in order: at once where the generator can, else one task after the other."""
    if isinstance(generator, BatchGenerator):
        return generator.generate_many(tasks)
    return tuple(generator.generate(task.prompt, task.params, task.seeds) for task in tasks)
