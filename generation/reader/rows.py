"""Build training rows for a reader, from examples with one, several or no passages that answer or do not.

Contexts are chunked exactly as the indexer chunks documents, and distractors are BM25 results for the question, because
that is what the reader gets at inference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from data.documents import Document
from data.reading_examples import ReadingExample
from generation.errors import GenerationError
from generation.reader.row_writing import RowWriter
from model.checkpoints.tokenizer import Tokenizer
from model.training.rows import TokenRow
from retrieval.chunking.chunker import ChunkingParams, chunk_document
from retrieval.chunking.chunks import Chunk, RetrievedChunk

Search = Callable[[str, int], Sequence[int]]
"""Function (query, k) that returns the positions of the k best chunks in the pool, best first."""


@dataclass(frozen=True, slots=True)
class RowMix:
    """The mix of kinds of training rows. Probabilities apply independently to each row.

    repeats: number of rows for an answerable example whose context is longer than a sentence, each with other chunks.
    alone: probability that no chunk of another passage is shown. whole: in that case, probability that all chunks of
    the passage are shown, and not only the gold chunk. without_gold: probability that the gold chunk of an answerable
    question is withheld, so that the target is a refusal. strangers: if other chunks are shown, probability that they
    include search results from other passages. max_chunks: maximum number of chunks shown.

    The gold chunk of an unanswerable question is the chunk of its passage that shares most words with it. If all chunks
    were shown instead, unlike for answerable questions, their number would reveal the answer. Raises GenerationError,
    which names the invalid value.
    """

    repeats: int = 2
    alone: float = 0.35
    whole: float = 0.5
    without_gold: float = 0.15
    strangers: float = 0.7
    max_chunks: int = 4

    def __post_init__(self) -> None:
        for name in ("alone", "whole", "without_gold", "strangers"):
            if not 0 <= getattr(self, name) <= 1:
                raise GenerationError(f"{name} is {getattr(self, name)}: it must be in [0, 1]")
        for name in ("repeats", "max_chunks"):
            if getattr(self, name) < 1:
                raise GenerationError(f"{name} is {getattr(self, name)}: it must be at least 1")


@dataclass(frozen=True, slots=True)
class ChunkPool:
    """The chunks of all contexts. of_example: for each example, the positions of its chunks in ``chunks``."""

    chunks: tuple[Chunk, ...]
    of_example: tuple[tuple[int, ...], ...]


def chunk_contexts(examples: Sequence[ReadingExample], tokenizer: Tokenizer, chunking: ChunkingParams) -> ChunkPool:
    """Split the context of every example into chunks. Examples with the same context share its chunks.

    tokenizer: counts the tokens of a chunk.
    """
    seen: dict[tuple[str, str], tuple[int, ...]] = {}
    chunks: list[Chunk] = []
    of_example: list[tuple[int, ...]] = []

    def count(texts: Sequence[str]) -> Sequence[int]:
        return [len(encoding.token_ids) for encoding in tokenizer.encode_many(texts)]

    for example in examples:
        key = (example.title, example.context)
        if key not in seen:
            document = Document(str(len(seen)), example.title, example.context) if example.context.strip() else None
            cut = chunk_document(document, count, chunking) if document else ()
            seen[key] = tuple(range(len(chunks), len(chunks) + len(cut)))
            chunks.extend(cut)
        of_example.append(seen[key])
    return ChunkPool(tuple(chunks), tuple(of_example))


class ReaderRows:
    """Converts reading examples to token rows. A row depends on the seed, the example and the repetition alone."""

    def __init__(
        self,
        writer: RowWriter,
        pool: ChunkPool,
        search: Search,
        mix: RowMix,
        *,
        seed: int,
    ) -> None:
        self._writer, self._pool, self._search, self._mix, self._seed = writer, pool, search, mix, seed

    def rows(self, examples: Sequence[ReadingExample]) -> Iterator[TokenRow]:
        """Yield the rows of the examples, which must be those that the pool was built from, in the same order."""
        for index, example in enumerate(examples):
            own = self._pool.of_example[index]
            if not own:
                yield from self._row(example, (), example.answers[:1])
                continue
            once = len(own) == 1 and len(self._pool.chunks[own[0]].text) < 200
            found = _LazySearch(self._search, example.question)
            for repeat in range(1 if once or not example.answerable else self._mix.repeats):
                rng = random.Random(f"{self._seed}:{index}:{repeat}")
                yield from self._with_chunks(example, own, found, rng)

    def _with_chunks(
        self, example: ReadingExample, own: Sequence[int], found: _LazySearch, rng: random.Random
    ) -> Iterator[TokenRow]:
        gold = self._gold(example, own) if example.answerable else self._nearest(example.question, own, rng)
        if gold is None:
            return  # the answer does not occur in its passage, and would teach the reader to invent answers
        mine = set(own)

        def others() -> list[int]:
            return [i for i in found() if i not in mine and not self._mentions(i, example.answers)]

        siblings = [i for i in own if i != gold]
        if example.answerable and rng.random() < self._mix.without_gold:
            rest = [i for i in siblings if not self._mentions(i, example.answers)][:1]
            shown = self._mixed(rest, others, rng)
            if shown:
                yield from self._row(example, shown, ())
            return
        if rng.random() < self._mix.alone:
            full_text = rng.random() < self._mix.whole
            shown = [gold, *siblings][: self._mix.max_chunks if full_text else 1]
            rng.shuffle(shown)
        else:
            near = siblings[:2]
            more = others if rng.random() < self._mix.strangers else list
            shown = self._mixed([gold], lambda: near + more(), rng)
        yield from self._row(example, shown, example.answers if example.answerable else ())

    def _mixed(self, required: list[int], others: Callable[[], Sequence[int]], rng: random.Random) -> list[int]:
        count = max(len(required), rng.randint(1, self._mix.max_chunks))
        if count == len(required):
            rng.shuffle(required)
            return required[: self._mix.max_chunks]
        # The best-ranked distractors, with some variation.
        picked = [i for i in others() if rng.random() < 0.6][: count - len(required)]
        shown = (required + picked)[: self._mix.max_chunks]
        rng.shuffle(shown)
        return shown

    def _gold(self, example: ReadingExample, own: Sequence[int]) -> int | None:
        for answer in example.answers:
            for index in own:
                if answer.lower() in self._pool.chunks[index].text.lower():
                    return index
        return None

    def _nearest(self, question: str, own: Sequence[int], rng: random.Random) -> int:
        question_words = set(question.lower().split())
        shared = [len(question_words & set(self._pool.chunks[i].text.lower().split())) for i in own]
        most = max(shared)
        return rng.choice([i for i, n in zip(own, shared, strict=True) if n == most])

    def _mentions(self, index: int, answers: Sequence[str]) -> bool:
        text = self._pool.chunks[index].text.lower()
        return any(answer.lower() in text for answer in answers)

    def _row(self, example: ReadingExample, shown: Sequence[int], answers: Sequence[str]) -> Iterator[TokenRow]:
        retrieved = [RetrievedChunk(self._pool.chunks[i], 0.0, rank) for rank, i in enumerate(shown, start=1)]
        row = self._writer.row(example.question, retrieved, answers)
        if row is not None:
            yield row


class _LazySearch:
    """A search that runs on first use."""

    def __init__(self, search: Search, question: str) -> None:
        self._search, self._question = search, question
        self._found: Sequence[int] | None = None

    def __call__(self) -> Sequence[int]:
        if self._found is None:
            self._found = self._search(self._question, 12)
        return self._found
