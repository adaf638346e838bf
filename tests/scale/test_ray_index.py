"""Indexing on a two-worker cluster: the same index as on one machine, whatever happens to a worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import Queue

import numpy as np
import pytest
from sqlalchemy import select

from app.cluster import executor
from app.cluster.executor import ClusterOptions, RayExecutor
from app.pipeline import Pipeline
from app.retrieval.file_parsing import file_parsing
from app.settings import Settings
from data.block_work import WorkerError
from data.documents import Document
from data.loaders import iter_documents
from data.samples_paths import sample_corpus_path
from data.schema import vectors
from data.store import Store
from retrieval.encoding.distributed_encoder import DistributedEncoder
from retrieval.errors import CollectionBusyError, RetrievalError
from retrieval.generations.collection_folder import collection_lock
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.vector_cache import read_vectors
from tests.retrieval.subprocess_encoders import HashedText, missing
from tests.scale.ray_encoders import Counted

pytestmark = pytest.mark.scale

JOB = JobParams(texts_per_call=8, texts_per_window=64)
DOCUMENTS = tuple(Document(f"d{n:03}", f"Title {n}", f"The text of document {n}.") for n in range(200))
DEADLY = "text of document 77."


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    with RayExecutor(ClusterOptions(workers=2)) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'plumbline.db'}") as opened:
        yield opened


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tmp_path / "calls"
    folder.mkdir()
    return folder


def calls_by_text(calls: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in map(Path.read_text, calls.iterdir()):
        counts[text] = counts.get(text, 0) + 1
    return counts


def test_the_sample_corpus_gets_the_same_generation_and_vectors(cluster: RayExecutor, tmp_path: Path) -> None:
    found = {}
    for engine in ("local", "ray"):
        workers = cluster if engine == "ray" else None
        with Pipeline(Settings(home=tmp_path / engine)) as pipeline:
            documents = iter_documents([sample_corpus_path()], parse=file_parsing(workers))
            report = pipeline.index("s", documents, executor=workers, in_subprocess=True)
            with pipeline.store.read() as connection:
                rows = connection.execute(select(vectors.c.encoder, vectors.c.text_sha256)).all()
            known = read_vectors(pipeline.store, rows[0].encoder, [row.text_sha256 for row in rows], 384)
            found[engine] = report, known
    (here, local), (there, remote) = found["local"], found["ray"]
    assert there.generation_hash == here.generation_hash
    assert (there.documents, there.chunks, there.embedded) == (70, here.chunks, here.embedded)
    assert local.keys() == remote.keys() and len(local) == here.embedded
    assert max(float(np.abs(local[key] - remote[key]).max()) for key in local) < 1e-5


def test_a_killed_worker_costs_only_its_block(cluster: RayExecutor, store: Store, tmp_path: Path, calls: Path) -> None:
    encoder = DistributedEncoder(cluster, partial(Counted, calls, DEADLY))
    report = index_documents(store, tmp_path, "killed", DOCUMENTS, encoder, job=JOB)
    assert (tmp_path / "died").exists()
    here = index_documents(store, tmp_path, "here", DOCUMENTS, HashedText(), job=JOB)
    assert report.generation_hash == here.generation_hash
    counts = calls_by_text(calls)
    assert len(counts) == 25  # 200 texts, 8 a call
    # The killed call, and none that was done before; what its worker had queued may have been begun.
    again = {text for text, count in counts.items() if count > 1}
    assert len(again) <= 2 and any(DEADLY in text for text in again)
    assert sum(counts.values()) <= 27
    assert len({file.name.split("-")[0] for file in calls.iterdir()}) == 3  # two workers, and one in its place


def test_a_block_that_kills_every_worker_ends_the_job_and_the_next_one_goes_on(
    cluster: RayExecutor, store: Store, tmp_path: Path, calls: Path
) -> None:
    deadly = DistributedEncoder(cluster, partial(Counted, calls, DEADLY, always=True))
    with pytest.raises(WorkerError, match="3 times"):
        index_documents(store, tmp_path, "c", DOCUMENTS, deadly, job=JOB)
    deadly.release()
    done = len(calls_by_text(calls))
    report = index_documents(store, tmp_path, "c", DOCUMENTS, DistributedEncoder(cluster, HashedText), job=JOB)
    assert 0 < report.embedded < 200 and done > 1


def test_errors_of_a_worker_keep_their_type(cluster: RayExecutor) -> None:
    encoder = DistributedEncoder(cluster, missing)
    with pytest.raises(RetrievalError, match="no encoder folder 'nowhere'"):
        _ = encoder.fingerprint
    encoder.release()


def test_workers_that_wait_for_processors_say_so(cluster: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    said: Queue[str] = Queue()
    monkeypatch.setattr(executor, "_PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "_notify", said.put)
    first, second = (DistributedEncoder(cluster, HashedText) for _ in range(2))
    assert first.fingerprint == HashedText().fingerprint
    waiting = threading.Thread(target=second.properties)
    waiting.start()
    assert "2 workers with 1 processors" in said.get(timeout=60)
    first.release()
    waiting.join(60)
    assert not waiting.is_alive()
    second.release()


def test_a_second_writer_is_refused(cluster: RayExecutor, store: Store, tmp_path: Path) -> None:
    encoder = DistributedEncoder(cluster, HashedText)
    with collection_lock(store, tmp_path, "c"), pytest.raises(CollectionBusyError):
        index_documents(store, tmp_path, "c", DOCUMENTS, encoder, job=JOB)
    encoder.release()
