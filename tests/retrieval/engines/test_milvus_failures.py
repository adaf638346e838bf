"""Invalid addresses and servers that die give an error that names the engine, and leave nothing published."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data.documents import Document
from retrieval.errors import EngineError, EngineUnavailableError, GenerationGoneError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.report import IndexProgress
from retrieval.vectors.params import DenseParams
from tests.retrieval.engines.conftest import Bench
from tests.retrieval.engines.contents import contents
from tests.retrieval.engines.milvus_servers import MilvusServer, milvus
from tests.scale.postgresql import free_port

pytestmark = pytest.mark.scale
ENGINE = "milvus"
Documents = Callable[[int], tuple[Document, ...]]
QUERY = "machine m2x weighs"


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[MilvusServer]:
    with milvus(tmp_path / "served.db") as started:
        yield started


def test_an_address_that_does_not_answer_ends_the_job_before_it_embeds(
    make_bench: Callable[[str], Bench], make_documents: Documents
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    bench = make_bench(address)
    with pytest.raises(EngineUnavailableError) as raised:
        bench.index(make_documents(3))
    assert raised.value.address == address
    assert bench.encoder.encoded == []
    assert not list(generations_folder(bench.home, "c").glob("*"))


@pytest.mark.parametrize("address", ["host:19530", "postgresql://host/name", "milvus.sqlite"])
def test_another_address_is_refused(
    make_bench: Callable[[str], Bench], make_documents: Documents, address: str
) -> None:
    with pytest.raises(EngineError, match="19530"):
        make_bench(address).index(make_documents(3))


def test_a_file_that_another_process_has_open(make_bench: Callable[[str], Bench], make_documents: Documents) -> None:
    program = (
        "import sys\nfrom pymilvus import MilvusClient\nMilvusClient(sys.argv[1])\nprint('open', flush=True)\ninput()"
    )
    bench = make_bench(str(make_bench("").home / "m.db"))
    command = [sys.executable, "-c", program, bench.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "open\n"
        with pytest.raises(EngineUnavailableError, match="One process at a time"):
            bench.index(make_documents(3))
        other.communicate("\n")
    assert bench.index(make_documents(3)).vectors == "milvus"


@pytest.mark.parametrize(
    "options", [{"dense": DenseParams(quantisation="int8")}, {"dense": DenseParams(kind="ivf")}], ids=["int8", "ivf"]
)
def test_indexes_that_it_cannot_hold_are_refused_before_the_job_embeds(
    make_bench: Callable[[str], Bench], make_documents: Documents, options: Any, tmp_path: Path
) -> None:
    bench = make_bench(str(tmp_path / "m.db"))
    with pytest.raises(EngineError, match="local files"):
        bench.index(make_documents(3), params=IndexParams.for_new_index(**options))
    assert bench.encoder.encoded == []


@pytest.mark.parametrize("phase", ["words", "index", "publishing"])
def test_a_server_that_dies_in_the_middle_of_a_build(
    make_bench: Callable[[str], Bench], make_documents: Documents, own_server: MilvusServer, phase: str
) -> None:
    bench = make_bench(own_server.url)
    bench.index(make_documents(4))
    before = [hit.chunk.id for hit in bench.open().retrieve(QUERY, 100)]
    stopped: list[int] = []

    def stop(progress: IndexProgress) -> None:
        if progress.phase == phase and not stopped:
            stopped.append(1)
            own_server.kill()

    if phase == "publishing":  # all is written: the SQL store publishes it
        bench.index(make_documents(7), progress=stop)
    else:
        with pytest.raises(EngineUnavailableError):
            bench.index(make_documents(7), progress=stop)
    with pytest.raises(EngineUnavailableError):
        bench.open()
    own_server.start()
    found = [hit.chunk.id for hit in bench.open().retrieve(QUERY, 100)]
    assert (found == before) == (phase != "publishing")
    again = bench.index(make_documents(7))
    assert again.embedded == 0
    bench.index(make_documents(7))
    assert len(contents(bench)) == 1
    assert again.generation_hash == bench.local().index(make_documents(7), "files").generation_hash


def test_a_server_that_dies_while_it_is_queried_and_comes_back(
    make_bench: Callable[[str], Bench], make_documents: Documents, own_server: MilvusServer
) -> None:
    bench = make_bench(own_server.url)
    bench.index(make_documents(4))
    opened = bench.open()
    before = opened.retrieve(QUERY, 5)
    own_server.kill()
    for mode in ("dense", "bm25"):
        with pytest.raises(EngineUnavailableError) as raised:
            opened.retrieve(QUERY, 5, mode)
        assert raised.value.engine == "milvus"
    own_server.start()
    assert bench.open().retrieve(QUERY, 5) == before
    assert opened.retrieve(QUERY, 5) == before


def test_a_collection_that_lacks_rows_is_not_opened(
    make_bench: Callable[[str], Bench], make_documents: Documents, tmp_path: Path
) -> None:
    from pymilvus import MilvusClient

    bench = make_bench(str(tmp_path / "m.db"))
    bench.index(make_documents(4))
    client = MilvusClient(bench.address)
    client.delete(f"plumbline_{contents(bench)[0]}_vectors", ids=[1])
    client.close()
    with pytest.raises(GenerationGoneError):
        bench.open()
