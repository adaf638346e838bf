from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from data.documents import Document
from data.store import Store
from retrieval.encoding.adapted import adapted
from retrieval.encoding.distributed_encoder import DistributedEncoder
from retrieval.encoding.encoder import encode_calls
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import JobParams, index_documents
from tests.block_executors import ThreadExecutor
from tests.retrieval import subprocess_encoders as made

TEXTS = ["one text", "another one of six words", ""]


def test_it_is_the_encoder_and_rests_between_calls() -> None:
    executor = ThreadExecutor(2)
    encoder, here = DistributedEncoder(executor, made.HashedText), made.HashedText()
    assert executor.groups == []
    assert (encoder.fingerprint, encoder.dimension, encoder.max_tokens) == (here.fingerprint, 16, 256)
    assert encoder.count_tokens(TEXTS) == encoder.portable_counter()(TEXTS) == (2, 5, 0)
    assert np.array_equal(encoder.encode_passages(TEXTS), here.encode_passages(TEXTS))
    assert np.array_equal(encoder.encode_queries(TEXTS), here.encode_queries(TEXTS))
    calls = [[f"text {n} {m}" for m in range(n)] for n in range(9)]
    found = list(encode_calls(encoder, calls))
    assert all(np.array_equal(a, here.encode_passages(b)) for a, b in zip(found, calls, strict=True))
    assert [group.opened for group in executor.groups] == [2]
    encoder.release()
    encoder.release()
    assert executor.groups[0].closed
    assert encoder.fingerprint == here.fingerprint  # known without workers
    assert len(executor.groups) == 1
    encoder.encode_passages(TEXTS)
    assert len(executor.groups) == 2
    encoder.release()


def test_an_error_of_the_encoder_is_raised_with_its_type() -> None:
    encoder = DistributedEncoder(ThreadExecutor(1), made.HashedText)
    with pytest.raises(RetrievalError, match="no vector for 'refuse'"):
        encoder.encode_passages(["a", "refuse"])
    encoder.release()


SALTS = itertools.count()


def another_each_time() -> made.HashedText:
    return made.HashedText(str(next(SALTS)))


def test_workers_with_other_models_are_refused() -> None:
    encoder = DistributedEncoder(ThreadExecutor(2), another_each_time)
    with pytest.raises(RetrievalError, match="fingerprint"):
        list(encode_calls(encoder, [["a"], ["b"]]))
    encoder.release()


class TwoWays(made.HashedText):
    """An encoder with two passage modes. The second gives the negative vectors."""

    @property
    def passage_modes(self) -> tuple[str, ...]:
        return (self.fingerprint, "second")

    def encode_passages_as(self, texts: Sequence[str], mode: str) -> NDArray[np.float32]:
        return self.encode_passages(texts) * np.float32(-1 if mode == "second" else 1)


def test_an_adapted_encoder_keeps_several_calls_at_work() -> None:
    executor = ThreadExecutor(2)
    encoder = DistributedEncoder(executor, TwoWays)
    mode = adapted(encoder, "second")
    calls = [["a"], ["b", "c"], ["d"]]
    found = list(encode_calls(mode, calls))
    here = TwoWays()
    assert all(np.array_equal(a, here.encode_passages_as(b, "second")) for a, b in zip(found, calls, strict=True))
    assert executor.groups[0].opened == 2
    encoder.release()


def test_an_index_job_ends_in_the_same_generation(
    store: Store, home: Path, make_documents: Callable[[int], tuple[Document, ...]]
) -> None:
    documents = make_documents(40)
    job = JobParams(texts_per_call=4, texts_per_window=30)
    here = index_documents(store, home, "here", documents, made.HashedText("a"), job=job)
    executor = ThreadExecutor(2)
    # The fingerprint is the same and the store of vectors is shared, so the second job has nothing to embed.
    encoder = DistributedEncoder(executor, made.HashedText)
    there = index_documents(store, home, "there", documents, encoder, job=job)
    again = index_documents(store, home, "there", documents, encoder, job=job)
    assert there.embedded == here.embedded > 0
    assert (there.chunks, again.rebuilt) == (here.chunks, False)
    assert executor.groups[0].closed  # before the index is built
    plain = index_documents(store, home, "plain", documents, made.HashedText(), job=job)
    assert plain.generation_hash == there.generation_hash
