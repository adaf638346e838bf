"""Fixtures for tests of runs: simple generators, a search over one document, and a complete run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace

import pytest

from data.questions import EvidenceSpan, Question
from data.store import Store
from evaluation.claims.extraction import Extraction, extract_claims
from evaluation.outcomes import Verdict
from evaluation.runs.arms import Arm, ClosedBook, Oracle, Rag
from evaluation.runs.experiment import RunResult, configure, run_experiment
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import Decoding, RunConfig
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem, Verifier
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

CITIES = ("Paris", "Rome", "Leith", "Oslo")
QUESTIONS = (
    *(Question(f"q{i}", f"Where is {i}?", (c,), ("d",), True, "", (EvidenceSpan("d", 6 * i, 6 * i + 5),)) for i, c in
      enumerate(CITIES)),
    Question("open", "Where is 9?", relevant_document_ids=("d",), answerable=False),
    Question("bare", "Where is 8?"),
)  # fmt: skip
DOCUMENT = "Paris Rome! Leith Oslo! "
ARMS = ("closed_book", "rag", "oracle")
N = 3


class Passages:
    """One document in four chunks, and a search that returns all of them."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(Chunk("d", i, i + 6, DOCUMENT[i : i + 6]) for i in range(0, 24, 6)) if document_id == "d" else ()

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        found = tuple(RetrievedChunk(c, 1 / r, r) for r, c in enumerate(self.chunks_of("d")[:k], 1))
        return tuple(found for _ in queries)


class Parrot:
    """A generator that returns a word of a shown chunk, a city, or a refusal, depending on the seed only."""

    name = "parrot"
    fingerprint = "parrot-1"
    context_length = 100

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        shown = tuple(PromptChunk(i, c, 0, len(c.chunk.text)) for i, c in enumerate(chunks, 1))
        return Prompt(question, shown[:2], tuple(chunks[2:]), (1, 2, 3))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        known = [c.text.strip(" !") for c in prompt.chunks] or list(CITIES)
        return tuple(self.notify(random.Random(seed).choice([*known, "I don't know."]), seed) for seed in seeds)

    def notify(self, text: str, seed: int) -> Completion:
        return Completion(text, (1,), (-0.5,), "stop", Usage(3, 1), seed)


class Scripted(Parrot):
    """A generator whose answer to each question is given by a function."""

    def __init__(self, act: Callable[[str], str]) -> None:
        self.act = act

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        return tuple(self.notify(self.act(prompt.question), seed) for seed in seeds)


class Moody:
    """A verifier that fails on one question and records its calls."""

    name = "moody/1"

    def __init__(self, act: Callable[[VerificationItem], None] = lambda item: None) -> None:
        self.act = act
        self.calls: list[int] = []

    def extract(self, question: Question, completion: str) -> Extraction:
        return extract_claims(completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        self.calls.append(len(items))
        for item in items:
            self.act(item)
        return tuple(tuple(Verdict(c, "supported", 1.0, "", (), self.name) for c in item.claims) for item in items)


class Fragile(RunStore):
    """A store that stops the run at one commit, before or after it is made."""

    def __init__(self, store: Store, at: int, after: bool, error: type[BaseException]) -> None:
        super().__init__(store)
        self.left, self.after, self.error = at, after, error

    def save_samples(self, run_id: str, records: Sequence[SampleRecord]) -> None:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise self.error
        super().save_samples(run_id, records)
        if self.left == 0:
            raise self.error


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def arms(*names: str) -> list[Arm]:
    made: dict[str, Arm] = {
        "closed_book": ClosedBook(),
        "rag": Rag(Passages(), 3),
        "oracle": Oracle(Passages(), 2, Passages()),
    }
    return [made[n] for n in names or ARMS]


def config(
    questions: Sequence[Question] = QUESTIONS,
    chosen: Sequence[Arm] | None = None,
    verifier: Verifier | None = None,
    samples: int = N,
    seed: int = 11,
    grid: Sequence[Decoding] = (),
) -> RunConfig:
    return configure(
        questions,
        arms() if chosen is None else chosen,
        Parrot(),
        verifier or ReferenceVerifier(),
        samples=samples,
        decoding=Decoding(),
        seed=seed,
        version="0",
        grid=grid,
    )


def run(runs: RunStore, generator: Parrot | None = None, **options: object) -> RunResult:
    return run_experiment(config(), QUESTIONS, arms(), generator or Parrot(), ReferenceVerifier(), runs, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def lab() -> SimpleNamespace:
    """Return the classes and functions above, because a conftest cannot be imported."""
    return SimpleNamespace(
        QUESTIONS=QUESTIONS, ARMS=ARMS, N=N, Passages=Passages, Parrot=Parrot, Scripted=Scripted, Moody=Moody,
        Fragile=Fragile, arms=arms, config=config, run=run,
    )  # fmt: skip
