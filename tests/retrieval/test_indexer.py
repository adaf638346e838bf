from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from data.documents import Document
from data.refused import Refused
from data.schema import documents, generation_documents, generations, vectors
from data.store import Store
from retrieval.chunking.chunker import ChunkingParams
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_lock, generations_folder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.report import IndexProgress
from retrieval.retriever import Retriever
from retrieval.sparse.bm25 import REFERENCE_BM25

Documents = Callable[[int], tuple[Document, ...]]


class KilledError(Exception):
    """An exception that a progress listener raises to simulate a signal."""


def count(store: Store, table: Any) -> int:
    with store.read() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def ranking(retriever: Retriever, query: str) -> list[tuple[str, float]]:
    return [(hit.chunk.id, round(hit.score, 5)) for hit in retriever.retrieve(query, 10)]


def test_first_run_unchanged_run_and_what_the_report_says(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(12)
    source: list[Document | Refused] = [
        *given[:6],
        Refused("a.txt", "it is empty"),
        *given[6:],
        replace(given[0], text="other"),
    ]
    report = index_documents(store, home, "c", source, encoder)
    assert (report.added, report.changed, report.unchanged, report.removed) == (12, 0, 0, 0)
    assert [r.where for r in report.refused] == ["a.txt", "document 'doc-000'"]
    assert report.embedded + report.reused == report.chunks
    assert report.rebuilt
    again = index_documents(store, home, "c", reversed(given), encoder)
    assert not again.rebuilt
    assert (again.generation_hash, again.unchanged, again.embedded) == (report.generation_hash, 12, 0)
    assert (again.reused, again.chunks) == (report.chunks, report.chunks)


def test_changes_embed_only_what_is_new_and_deleted_documents_stop_answering(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(10)
    first = index_documents(store, home, "c", given, encoder)
    old = open_retriever(store, home, "c", encoder)
    encoder.encoded.clear()
    changed = replace(given[3], text="The lighthouse keeper sings.")
    report = index_documents(store, home, "c", [*given[:3], changed, *given[5:]], encoder)
    assert (report.added, report.changed, report.unchanged, report.removed) == (0, 1, 8, 1)
    assert encoder.encoded == ["Article 3. The lighthouse keeper sings."]
    assert report.generation_hash != first.generation_hash
    new = open_retriever(store, home, "c", encoder)
    assert new.is_current() and not old.is_current()
    assert new.retrieve("lighthouse keeper", 1)[0].chunk.document_id == "doc-003"
    assert {hit.chunk.document_id for hit in new.retrieve("machine m4x weighs", 100)}.isdisjoint({"doc-004"})
    # An open retriever still answers from the old generation, although its folder and rows were removed.
    assert old.retrieve("machine m4x weighs", 1)[0].chunk.document_id == "doc-004"
    assert [path.name for path in generations_folder(home, "c").iterdir()] == [report.generation_hash]
    assert count(store, documents) == count(store, generation_documents) == 9
    with store.read() as connection:
        rows = connection.execute(select(generations.c.hash, generations.c.status)).all()
        status = {row.hash: row.status for row in rows}
    assert status == {first.generation_hash: "retired", report.generation_hash: "published"}


def test_going_back_to_an_earlier_content_gives_its_hash_again(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(4)
    first = index_documents(store, home, "c", given, encoder)
    index_documents(store, home, "c", given[:2], encoder)
    back = index_documents(store, home, "c", given, encoder)
    assert back.generation_hash == first.generation_hash
    assert back.embedded == 0
    assert open_retriever(store, home, "c", encoder).size == first.chunks


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.drill) for seed in range(2, 6))])
def test_killed_runs_end_in_the_undisturbed_generation(
    tmp_path: Path, make_encoder: Any, make_documents: Documents, seed: int
) -> None:
    given = make_documents(40)
    options: dict[str, Any] = {"job": JobParams(documents_per_commit=7, texts_per_call=9, texts_per_window=30)}
    with Store.open(f"sqlite:///{tmp_path}/calm/p.db") as calm:
        index_documents(calm, tmp_path / "calm", "c", given[:5], make_encoder(), **options)
        events: list[IndexProgress] = []
        wanted = index_documents(calm, tmp_path / "calm", "c", given, make_encoder(), progress=events.append, **options)
        expected = ranking(open_retriever(calm, tmp_path / "calm", "c", make_encoder()), "machine m7x weighs")
    phases = [e.phase for e in events]
    assert phases[-3:] == ["index", "publishing", "publishing"]
    assert set(phases[: phases.index("words")]) == {"documents", "chunks", "vectors"}
    assert events[phases.index("words") - 1] == IndexProgress("vectors", wanted.embedded, wanted.embedded)
    rng = random.Random(seed)
    encoder = make_encoder()
    with Store.open(f"sqlite:///{tmp_path}/stormy/p.db") as store:
        home = tmp_path / "stormy"
        old = index_documents(store, home, "c", given[:5], encoder, **options)
        encoder.encoded.clear()
        for _ in range(5):
            left = rng.randrange(1, len(events))

            def listener(progress: IndexProgress) -> None:
                nonlocal left
                left -= 1
                if left <= 0 or progress == IndexProgress("publishing", 0, 1):
                    raise KilledError

            with pytest.raises(KilledError):
                index_documents(store, home, "c", given, encoder, progress=listener, **options)
            assert open_retriever(store, home, "c", encoder).generation_hash == old.generation_hash
        report = index_documents(store, home, "c", given, encoder, **options)
        assert report.generation_hash == wanted.generation_hash
        assert (report.added, report.unchanged) == (35, 5)
        assert len(encoder.encoded) == len(set(encoder.encoded)) == wanted.embedded  # nothing was embedded twice
        assert ranking(open_retriever(store, home, "c", encoder), "machine m7x weighs") == expected
        assert [p.name for p in generations_folder(home, "c").iterdir()] == [wanted.generation_hash]


def test_a_run_killed_between_moving_and_publishing_is_taken_up(
    store: Store, home: Path, encoder: Any, make_documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = make_documents(6)
    old = index_documents(store, home, "c", given[:3], encoder)

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr("retrieval.indexing.index_job.publish_generation", killed)
        with pytest.raises(KilledError):
            index_documents(store, home, "c", given, encoder)
    assert len(list(generations_folder(home, "c").iterdir())) == 2
    assert open_retriever(store, home, "c", encoder).generation_hash == old.generation_hash
    report = index_documents(store, home, "c", given, encoder)
    assert [p.name for p in generations_folder(home, "c").iterdir()] == [report.generation_hash]


def test_a_source_that_fails_leaves_the_old_generation(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(4)
    old = index_documents(store, home, "c", given, encoder)

    def broken() -> Iterator[Document]:
        yield from given[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_documents(store, home, "c", broken(), encoder)
    for empty in ([], [Refused("x.txt", "it is binary")]):
        with pytest.raises(RetrievalError, match="'c'"):
            index_documents(store, home, "c", empty, encoder)
    assert open_retriever(store, home, "c", encoder).generation_hash == old.generation_hash


def test_parameters_and_encoder_change_the_generation(
    store: Store, home: Path, encoder: Any, make_encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(5)
    hashes = {
        index_documents(store, home, "c", given, encoder).generation_hash,
        index_documents(
            store, home, "c", given, encoder, params=IndexParams.for_new_index(ChunkingParams(20))
        ).generation_hash,
        index_documents(
            store, home, "c", given, encoder, params=IndexParams.for_new_index(bm25=REFERENCE_BM25)
        ).generation_hash,
        index_documents(store, home, "c", given, make_encoder(salt="other")).generation_hash,
    }
    assert len(hashes) == 4


def test_only_the_metadata_changed(store: Store, home: Path, encoder: Any, make_documents: Documents) -> None:
    (given,) = make_documents(1)
    index_documents(store, home, "c", [given], encoder)
    report = index_documents(store, home, "c", [replace(given, metadata=(("author", "Ada"),))], encoder)
    assert (report.unchanged, report.rebuilt) == (1, False)
    with store.read() as connection:
        assert connection.execute(select(documents.c.metadata)).scalar_one() == {"author": "Ada"}


def test_a_damaged_cached_vector_is_embedded_again(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    given = make_documents(3)
    index_documents(store, home, "c", given, encoder)
    broken = np.full(encoder.dimension, np.nan, dtype="<f4").tobytes()
    with store.write() as connection:
        connection.execute(update(vectors).values(vector=broken))
    report = index_documents(store, home, "other", given, encoder)
    assert (report.embedded, report.reused) == (report.chunks, 0)
    assert open_retriever(store, home, "other", encoder).retrieve("machine m1x", 1, "dense")


def test_a_second_indexer_is_refused_by_pid(store: Store, home: Path, encoder: Any, make_documents: Documents) -> None:
    with collection_lock(store, home, "c"), pytest.raises(RetrievalError, match=r"process \d+ on .+ since 2"):
        index_documents(store, home, "c", make_documents(1), encoder)
    index_documents(store, home, "c", make_documents(1), encoder)


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a b", "x" * 65, "ä", "a\n"])
def test_bad_names_are_refused(store: Store, home: Path, encoder: Any, make_documents: Documents, name: str) -> None:
    with pytest.raises(RetrievalError, match="cannot name"):
        index_documents(store, home, name, make_documents(1), encoder)


def test_chunks_must_fit_the_encoder(store: Store, home: Path, make_encoder: Any, make_documents: Documents) -> None:
    with pytest.raises(RetrievalError, match="encoder"):
        index_documents(store, home, "c", make_documents(1), make_encoder(max_tokens=100))


def test_a_half_surrogate_is_refused_and_the_rest_is_taken(
    store: Store, home: Path, encoder: Any, make_documents: Documents
) -> None:
    report = index_documents(store, home, "c", [*make_documents(2), Document("bad", "", "a \ud800 b")], encoder)
    assert (report.documents, [r.where for r in report.refused]) == (2, ["document 'bad'"])
