"""Fixtures and small classes that the retrieval tests share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from data.documents import Document
from data.outline import Heading, Outline
from data.store import Store
from retrieval.encoding.encoder import unit_vectors
from retrieval.generations.collection_folder import generations_folder
from retrieval.indexing.indexer import index_documents


class WordHashEncoder:
    """An encoder whose vectors are normalised bags of hashed words, so that texts with common words are similar.

    encoded: all texts that were encoded.
    """

    def __init__(self, dimension: int = 32, salt: str = "", max_tokens: int = 256):
        self._dimension = dimension
        self._salt = salt
        self._max_tokens = max_tokens
        self.encoded: list[str] = []

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"words:{self._salt}:{self._dimension}".encode()).hexdigest()

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded.extend(texts)
        return self.encode_queries(texts)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self._dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(".", " ").split():
                place = int(hashlib.sha256((self._salt + word).encode()).hexdigest(), 16) % self._dimension
                vectors[row, place] += 1
        return unit_vectors(vectors, texts, self._dimension)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


@pytest.fixture
def encoder() -> WordHashEncoder:
    return WordHashEncoder(dimension=256)


@pytest.fixture
def make_encoder() -> type[WordHashEncoder]:
    return WordHashEncoder


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def make_documents() -> Callable[[int], tuple[Document, ...]]:
    def documents(count: int) -> tuple[Document, ...]:
        return tuple(
            Document(
                f"doc-{i:03d}",
                f"Article {i}",
                f"Machine m{i}x weighs {i} kilograms. It was built in town{i % 7}.\n\n"
                + " ".join(f"Part p{i}q{j} costs {j} crowns and fits slot s{j}." for j in range(i % 5 + 1)),
            )
            for i in range(count)
        )

    return documents


@pytest.fixture
def indexed(
    store: Store, home: Path, encoder: WordHashEncoder, make_documents: Callable[[int], tuple[Document, ...]]
) -> Path:
    """The folder of the generation of the collection "c"."""
    outlined = Document("zz", "Last", "Head\n\nBody text.", (("k", "v"),), Outline((Heading(0, 4, 1),)))
    report = index_documents(store, home, "c", [*make_documents(7), outlined], encoder)
    return generations_folder(home, "c") / report.generation_hash
