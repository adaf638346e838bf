"""The Generator protocol, implemented by the embedded reader, Hugging Face decoders and servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


class Generator(Protocol):
    """A model that converts a question and chunks into a prompt, and a prompt into completions."""

    @property
    def name(self) -> str:
        """Display name, e.g. ``plumbline-reader``."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and configuration. Equal fingerprints give the same tokens for the same seeds."""

    @property
    def context_length(self) -> int:
        """Size of the context window Delta, in tokens."""

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """Build a prompt of at most context_length - max_new_tokens tokens from the question and the chunks.

        As many chunks as possible are included, in the given order. Raises GenerationError if the question is empty, or
        does not fit even without chunks.
        """

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """Generate one completion per seed, in the order of the seeds (params.n and params.seed are ignored)."""


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """A prompt, its sampling parameters, and a seed for each completion.

    owner: owner of the request, if several owners share the generator; "" for none. Cached prompts are not reused
    across owners.
    """

    prompt: Prompt
    params: SamplingParams
    seeds: tuple[int, ...]
    owner: str = ""


@runtime_checkable
class BatchGenerator(Protocol):
    """A generator that processes many prompts at once."""

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """Return the completions of each task, in order, as ``generate`` would. Raises the first error of any task."""


class PendingCompletions(Protocol):
    """The completions of submitted tasks that are still being generated."""

    def result(self) -> tuple[tuple[Completion, ...], ...]:
        """Wait for the completions of all tasks and return them in order.

        Raises the first error of any task and cancels the other tasks.
        """

    def cancel(self) -> None:
        """Drop queued requests and return at once."""


@runtime_checkable
class QueueingGenerator(Protocol):
    """A generator that accepts tasks while it works on earlier ones, such as the client of a server."""

    @property
    def parallel(self) -> int:
        """Number of samples that are generated at the same time."""

    def submit_many(self, tasks: Sequence[GenerationTask]) -> PendingCompletions:
        """Queue the tasks and return at once. Requests start in the order of tasks and seeds."""


def generate_many(generator: Generator, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
    """Return the completions of all tasks, in order: in one batch if the generator supports it, else one by one."""
    if isinstance(generator, BatchGenerator):
        return generator.generate_many(tasks)
    return tuple(generator.generate(task.prompt, task.params, task.seeds) for task in tasks)
