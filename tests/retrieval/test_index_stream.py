from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import func, select, update

from data.documents import Document
from data.outline import Heading, Outline
from data.schema import documents, generations, vectors
from data.store import Store
from retrieval.chunking.chunker import ChunkingParams
from retrieval.collections import delete_collection, open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.vector_file import VectorFile
from retrieval.vectors.params import DenseParams

Documents = Callable[[int], tuple[Document, ...]]


def count(store: Store, table: Any) -> int:
    with store.read() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


@pytest.mark.parametrize(
    "job",
    [
        JobParams(documents_per_commit=1, texts_per_call=1, texts_per_window=1),
        JobParams(characters_per_commit=50, texts_per_call=3, texts_per_window=7),
        JobParams(documents_per_commit=1000, texts_per_call=1000, texts_per_window=1000),
    ],
)
def test_however_the_work_is_done_the_files_are_the_same(
    tmp_path: Path, make_encoder: Any, make_documents: Documents, job: JobParams
) -> None:
    given = make_documents(25)
    found = []
    for name, how in (("default", JobParams()), ("other", job)):
        with Store.open(f"sqlite:///{tmp_path}/{name}/p.db") as store:
            report = index_documents(store, tmp_path / name, "c", reversed(given), make_encoder(), job=how)
            folder = generations_folder(tmp_path / name, "c") / report.generation_hash
            found.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert found[0] == found[1]


def test_reading_cutting_and_embedding_go_on_at_the_same_time(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    """The source waits for the embedding of its first half before it yields the second, which needs concurrency."""
    import threading

    given = make_documents(20)
    embedded = threading.Event()

    def source() -> Iterator[Document]:
        yield from given[:10]
        assert embedded.wait(timeout=120)
        yield from given[10:]

    def listener(progress: Any) -> None:
        if progress.phase == "vectors" and progress.done:
            embedded.set()

    report = index_documents(
        store,
        home,
        "c",
        source(),
        encoder,
        progress=listener,
        job=JobParams(documents_per_commit=5, texts_per_call=2, texts_per_window=4),
    )
    assert report.documents == 20


def test_an_interrupted_job_ends_after_the_document_that_is_being_read(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    import threading

    interrupted = threading.Event()
    given = make_documents(400)
    closed = []

    def source() -> Iterator[Document]:
        try:
            yield from given[:5]
            assert interrupted.wait(timeout=120)
            yield from given[5:]
        finally:
            closed.append(len(given))

    def listener(progress: Any) -> None:
        if progress.phase == "vectors" and progress.done:
            interrupted.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_documents(
            store,
            home,
            "c",
            source(),
            encoder,
            progress=listener,
            job=JobParams(documents_per_commit=5, texts_per_call=1, texts_per_window=1),
        )
    assert closed
    assert count(store, documents) < 400
    assert "plumbline-ahead" not in [thread.name for thread in threading.enumerate()]


def test_an_encoder_that_cannot_be_sent_to_workers_is_refused(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    with pytest.raises(RetrievalError, match="2 worker processes"):
        index_documents(store, home, "c", make_documents(2), encoder, job=JobParams(workers=2))


class Broken:
    """An encoder that returns invalid vectors of a given kind."""

    def __init__(self, sound: Any, fault: str) -> None:
        self._sound = sound
        self._fault = fault
        self.fingerprint, self.dimension, self.max_tokens = sound.fingerprint, sound.dimension, sound.max_tokens
        self.count_tokens, self.encode_queries = sound.count_tokens, sound.encode_queries

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self._sound.encode_passages(texts)
        if self._fault == "nan":
            found[len(texts) // 2, 3] = np.nan
        if self._fault == "long":
            found[0] *= 2
        if self._fault == "wide":
            return np.concatenate([found, found], axis=1)
        if self._fault == "few":
            return found[1:]
        return found


@pytest.mark.parametrize(
    ("fault", "says"),
    [("nan", "vector for 1 of"), ("long", "length 2"), ("wide", "shape"), ("few", "shape")],
)
def test_bad_vectors_end_the_job_by_name_and_nothing_of_them_is_kept(
    store: Store, home: Path, encoder: Any, make_documents: Documents, fault: str, says: str
) -> None:
    old = index_documents(store, home, "c", make_documents(3), encoder)
    kept = count(store, vectors)
    with pytest.raises(RetrievalError, match=says):
        index_documents(store, home, "c", make_documents(9), Broken(encoder, fault))
    assert open_retriever(store, home, "c", encoder).generation_hash == old.generation_hash
    assert count(store, vectors) == kept
    assert index_documents(store, home, "c", make_documents(9), encoder).documents == 9


def test_one_document_of_one_word(store: Store, home: Path, encoder: Any) -> None:
    report = index_documents(store, home, "c", [Document("a", "", "word")], encoder)
    assert (report.documents, report.chunks) == (1, 1)
    (hit,) = open_retriever(store, home, "c", encoder).retrieve("word", 5)
    assert hit.chunk.text == "word"


def test_vectors_that_nobody_needs_are_removed(
    store: Store, home: Path, encoder: Any, make_encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(12)
    first = index_documents(store, home, "c", given, encoder)
    index_documents(store, home, "other", given[:2], make_encoder(dimension=256))  # the same encoder, another object
    assert count(store, vectors) == first.chunks
    index_documents(store, home, "c", given[:6], encoder)
    assert count(store, vectors) == first.chunks  # reverting would need no embedding
    last = index_documents(store, home, "c", given[4:6], encoder)
    with store.read() as connection:
        owners = connection.execute(select(vectors.c.collection_id).distinct()).scalars().all()
    assert len(owners) == 1
    # The vectors that the last two contents of "c" and the published generation of "other" need.
    wanted = index_documents(store, home, "c", given[:6], encoder)
    assert wanted.embedded == 0
    assert count(store, vectors) == wanted.chunks > last.chunks
    other = index_documents(store, home, "c", given[:1], make_encoder(salt="new"))
    assert count(store, vectors) == wanted.chunks + other.chunks
    index_documents(store, home, "c", given[:2], make_encoder(salt="new"))
    delete_collection(store, home, "c")
    with store.read() as connection:  # only the first encoder's vectors of "other" remain
        assert set(connection.execute(select(vectors.c.encoder)).scalars()) == {encoder.fingerprint}
    assert (
        index_documents(
            store, home, "other", given[:2], encoder, params=IndexParams.for_new_index(ChunkingParams(30))
        ).documents
        == 2
    )


def test_a_job_in_another_collection_keeps_what_it_has_embedded_so_far(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    def interrupted() -> Iterator[Document]:
        yield from make_documents(8)
        raise KeyboardInterrupt

    small = JobParams(documents_per_commit=2, texts_per_call=1, texts_per_window=1)
    with pytest.raises(KeyboardInterrupt):
        index_documents(store, home, "long", interrupted(), encoder, job=small)
    before = count(store, vectors)
    assert before
    other = [Document("x", "", "Something else."), Document("y", "", "Another thing.")]
    index_documents(store, home, "c", other, encoder)
    index_documents(store, home, "c", other[:1], encoder)
    assert count(store, vectors) >= before
    assert index_documents(store, home, "long", make_documents(8), encoder).reused >= before


def test_a_swapped_vector_in_the_store_is_embedded_again(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(3)
    index_documents(store, home, "c", given, encoder)
    with store.write() as connection:
        (one, other) = connection.execute(select(vectors.c.text_sha256, vectors.c.vector).limit(2)).all()
        connection.execute(update(vectors).where(vectors.c.text_sha256 == one.text_sha256).values(vector=other.vector))
    report = index_documents(store, home, "again", given, encoder)
    assert report.embedded == 1
    assert open_retriever(store, home, "again", encoder).retrieve("machine m1x weighs", 1, "dense")


def test_a_changed_row_is_healed_by_its_source(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(4)
    first = index_documents(store, home, "c", given, encoder)
    with store.write() as connection:
        forged = update(documents).where(documents.c.document_id == "doc-002")
        connection.execute(forged.values(text="forged", outline=None))
    with pytest.raises(RetrievalError, match="'doc-002' of 'c'"):
        open_retriever(store, home, "c", encoder)
    report = index_documents(store, home, "c", given, encoder)
    assert (report.generation_hash, report.rebuilt) == (first.generation_hash, False)
    assert open_retriever(store, home, "c", encoder).retrieve("machine m2x weighs", 1)


def test_a_generation_of_another_collection_never_answers(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    from data.schema import collections

    index_documents(store, home, "a", make_documents(3), encoder)
    index_documents(store, home, "b", [Document("x", "", "Something else.")], encoder)
    with store.write() as connection:
        of_b = select(generations.c.id).join(collections, collections.c.id == generations.c.collection_id)
        key = connection.execute(of_b.where(collections.c.name == "b")).scalar_one()
        connection.execute(update(collections).where(collections.c.name == "a").values(current_generation_id=key))
    with pytest.raises(RetrievalError, match="published"):
        open_retriever(store, home, "a", encoder)


def test_another_outline_cuts_by_headings_anew(store: Store, home: Path, encoder: Any) -> None:
    text = "Alpha one two three.\n\nBeta four five six."
    document = Document("a", "", text)
    by_headings = ChunkingParams(max_tokens=40, strategy="headings")
    first = index_documents(store, home, "c", [document], encoder, params=IndexParams.for_new_index(by_headings))
    outlined = replace(document, outline=Outline((Heading(0, 5, 1), Heading(22, 26, 1))))
    second = index_documents(store, home, "c", [outlined], encoder, params=IndexParams.for_new_index(by_headings))
    assert (first.chunks, second.chunks) == (1, 2)
    assert (
        index_documents(store, home, "c", [outlined], encoder, params=IndexParams.for_new_index(by_headings)).rebuilt
        is False
    )


def test_the_kind_of_index_is_kept_with_its_recall(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    report = index_documents(
        store,
        home,
        "c",
        make_documents(20),
        encoder,
        params=IndexParams.for_new_index(dense=DenseParams(quantisation="int8")),
    )
    assert report.index == "flat-int8"
    assert report.recall is not None and 0.5 < report.recall <= 1
    graph = index_documents(
        store, home, "c", make_documents(20), encoder, params=IndexParams.for_new_index(dense=DenseParams(kind="hnsw"))
    )
    assert (graph.index, graph.embedded) == ("hnsw", 0)
    assert graph.generation_hash != report.generation_hash
    assert open_retriever(store, home, "c", encoder).retrieve("machine m4x", 3, "dense")


def test_a_vector_file_reads_as_an_array_and_leaves_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(10, 4)).astype(np.float32)
    with VectorFile(tmp_path / "v", 10, 4) as file:
        file.write(0, matrix[:3])
        file.write(3, matrix[3:])
        np.testing.assert_array_equal(file[2:7], matrix[2:7])
        np.testing.assert_array_equal(file[np.asarray([9, 0, 4])], matrix[[9, 0, 4]])
        np.testing.assert_array_equal(file[1:9:3], matrix[1:9:3])
        assert file[4:2].shape == file[np.asarray([], dtype=int)].shape == (0, 4)
        with pytest.raises(OSError, match=r"160.*11"):
            file[np.asarray([0, 10])]
        assert (len(file), file.shape) == (10, (10, 4))
    assert not list(tmp_path.iterdir())
