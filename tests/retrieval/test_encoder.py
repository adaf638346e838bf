from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from data.documents import Document
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.encoding.encoder import unit_vectors
from retrieval.encoding.sentence_transformer import (
    SentenceTransformerEncoder,
    default_encoder_folder,
    load_default_encoder,
)
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import index_documents


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEncoder:
    return load_default_encoder()


def test_the_default_encoder_is_what_it_should_be(minilm: SentenceTransformerEncoder) -> None:
    assert (minilm.dimension, minilm.max_tokens) == (384, 256)
    texts = ["A cat sits on the mat.", "A kitten is lying on a rug.", "Interest rates rose again."]
    vectors = minilm.encode_passages(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    similar = vectors @ vectors.T
    assert similar[0, 1] > 0.5 > 0.2 > similar[0, 2]
    np.testing.assert_allclose(minilm.encode_queries(texts), vectors, atol=1e-5)
    assert minilm.encode_queries([]).shape == (0, 384)


def test_tokens_are_counted_whole_and_without_special_ones(minilm: SentenceTransformerEncoder) -> None:
    assert minilm.count_tokens(["", "hello world", "hello " * 1000]) == (0, 2, 1000)


def test_minilm_end_to_end_and_its_fingerprint(
    minilm: SentenceTransformerEncoder, store: Store, home: Path, tmp_path: Path
) -> None:
    given = [
        Document("cats", "Cats", "Cats purr when they are content. They sleep most of the day."),
        Document("money", "Central banks", "A central bank sets the interest rate to steer inflation."),
    ]
    index_documents(store, home, "c", given, minilm)
    retriever = open_retriever(store, home, "c", minilm)
    assert retriever.retrieve("Who decides what borrowing costs?", 1)[0].chunk.document_id == "money"
    folder = tmp_path / "copy"
    shutil.copytree(default_encoder_folder(), folder)
    assert SentenceTransformerEncoder(folder).fingerprint == minilm.fingerprint
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')
    assert SentenceTransformerEncoder(folder).fingerprint != minilm.fingerprint


@pytest.mark.drill
def test_queries_go_with_collections_that_were_embedded_in_either_precision(
    minilm: SentenceTransformerEncoder, store: Store, home: Path
) -> None:
    given = [
        Document("cats", "Cats", "Cats purr when they are content."),
        Document("money", "Central banks", "A central bank sets the interest rate to steer inflation."),
    ]
    coarse = load_default_encoder(precision="bf16")
    first = index_documents(store, home, "c", given, coarse)
    for encoder in (coarse, minilm):
        retriever = open_retriever(store, home, "c", encoder)
        assert retriever.indexed_with == coarse.fingerprint
        assert retriever.retrieve("Who decides what borrowing costs?", 1)[0].chunk.document_id == "money"
    again = index_documents(store, home, "c", given, coarse)
    assert (again.embedded, again.rebuilt) == (0, False)
    second = index_documents(store, home, "c", given, minilm)
    assert (second.embedded, second.rebuilt) == (2, True)
    assert second.generation_hash != first.generation_hash
    with pytest.raises(RetrievalError, match="encoder"):
        open_retriever(store, home, "c", OtherEncoder(minilm))


class OtherEncoder:
    """An encoder that equals another one except for its fingerprint. Its queries fit only its own passages."""

    def __init__(self, real: SentenceTransformerEncoder) -> None:
        self.fingerprint, self.dimension, self.max_tokens = "f" * 64, real.dimension, real.max_tokens
        self.encode_passages, self.encode_queries = real.encode_passages, real.encode_queries
        self.count_tokens = real.count_tokens


def test_a_text_without_a_usable_vector_is_named() -> None:
    for bad in (np.nan, np.inf, 0.0):
        vectors = np.ones((2, 3), dtype=np.float32)
        vectors[1] = bad
        with pytest.raises(RetrievalError, match="'second text'"):
            unit_vectors(vectors, ["first", "second text"], 3)
    with pytest.raises(RetrievalError, match="shape"):
        unit_vectors(np.ones((2, 4), dtype=np.float32), ["a", "b"], 3)


def test_changed_default_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other")
    monkeypatch.setattr("retrieval.encoding.sentence_transformer.default_encoder_folder", lambda: tmp_path)
    with pytest.raises(RetrievalError, match="published"):
        load_default_encoder()


def test_what_is_no_encoder_is_refused_without_asking_a_hub(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="folder"):
        SentenceTransformerEncoder(tmp_path / "missing")
    with pytest.raises(RetrievalError, match="folder"):
        SentenceTransformerEncoder("./not/there/at-all")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(RetrievalError, match="safetensors"):
        SentenceTransformerEncoder(tmp_path)
