"""Invalid addresses, missing privileges and servers that die give an error that names the engine, and no index."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

from data.documents import Document
from data.store import Store
from retrieval.engines.engines import Engines
from retrieval.errors import CollectionBusyError, EngineError, EngineUnavailableError
from retrieval.generations.collection_folder import collection_lock, generations_folder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.report import IndexProgress
from retrieval.sparse.bm25 import Bm25Params
from retrieval.vectors.params import DenseParams
from tests.retrieval.engines.conftest import Bench
from tests.retrieval.engines.contents import contents
from tests.scale.postgresql import Server, free_port, server

pytestmark = pytest.mark.scale
ENGINE = "pgvector"
Documents = Callable[[int], tuple[Document, ...]]
QUERY = "machine m2x weighs"


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A PostgreSQL server that a test may stop."""
    with server() as started:
        yield started


def start_again(stopped: Server) -> None:
    """Start a stopped server again with the same options."""
    options = shlex.split((stopped.folder / "cluster" / "postmaster.opts").read_text())[1:]
    stopped.control("--options", shlex.join(options[options.index("-c") :]), "start")


def test_an_address_that_does_not_answer_ends_the_job_before_it_embeds(
    make_bench: Callable[[str], Bench], make_documents: Documents
) -> None:
    port = free_port()
    bench = make_bench(f"postgresql+psycopg://someone:secret@127.0.0.1:{port}/none")
    with pytest.raises(EngineUnavailableError) as raised:
        bench.index(make_documents(3))
    assert str(port) in raised.value.address
    assert "secret" not in str(raised.value)
    assert bench.encoder.encoded == []
    assert not list(generations_folder(bench.home, "c").glob("*"))


@pytest.mark.parametrize("address", ["mysql://host/name", "not a url", "sqlite:///x.db"])
def test_another_address_is_refused(
    make_bench: Callable[[str], Bench], make_documents: Documents, address: str
) -> None:
    with pytest.raises(EngineError, match="URL"):
        make_bench(address).index(make_documents(3))


def test_no_address_names_the_parameter(make_bench: Callable[[str], Bench], make_documents: Documents) -> None:
    with pytest.raises(EngineError) as raised:
        make_bench("").index(make_documents(3))
    assert raised.value.parameter == "pgvector_url"


def test_a_wrong_password_does_not_reach_the_message(
    make_bench: Callable[[str], Bench], make_documents: Documents, postgresql: Server, vector_database: str
) -> None:
    url = postgresql.tcp_url(vector_database).replace(postgresql.password, "mistaken")
    with pytest.raises(EngineUnavailableError, match="password authentication failed") as raised:
        make_bench(url).index(make_documents(3))
    assert "mistaken" not in str(raised.value)


def test_a_password_is_used_but_not_recorded(
    make_bench: Callable[[str], Bench], make_documents: Documents, postgresql: Server, vector_database: str
) -> None:
    bench = make_bench(postgresql.tcp_url(vector_database))
    bench.index(make_documents(3))
    assert bench.open().retrieve(QUERY, 3)
    (folder,) = generations_folder(bench.home, "c").iterdir()
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert postgresql.password.encode() not in written
    assert str(postgresql.port).encode() in written


def test_a_database_without_the_extension_and_without_the_right_to_create_it(
    make_bench: Callable[[str], Bench], make_documents: Documents, vector_database: str
) -> None:
    engine = create_engine(vector_database)
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE reader LOGIN"))
    bench = make_bench(make_url(vector_database).set(username="reader").render_as_string(hide_password=False))
    with pytest.raises(EngineError, match="CREATE EXTENSION vector"):
        bench.index(make_documents(3))
    # With the extension, the role still may not create tables.
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION vector"))
    with pytest.raises(EngineError, match="permission denied"):
        bench.index(make_documents(3))
    with engine.begin() as connection:
        connection.execute(text("GRANT CREATE ON SCHEMA public TO reader"))
    assert bench.index(make_documents(3)).vectors == "pgvector"
    assert bench.open().retrieve(QUERY, 3)
    with engine.begin() as connection:
        connection.execute(text("DROP OWNED BY reader"))
        connection.execute(text("DROP ROLE reader"))
    engine.dispose()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"dense": DenseParams(quantisation="int8")}, "8-bit"),
        ({"dense": DenseParams(kind="ivf")}, "flat or hnsw"),
        ({"dense": DenseParams(kind="hnsw", links=200)}, "links"),
        ({"bm25": Bm25Params("okapi", backend="rank-bm25")}, "rank-bm25"),
    ],
)
def test_indexes_that_it_cannot_hold_are_refused_before_the_job_embeds(
    make_bench: Callable[[str], Bench], make_documents: Documents, vector_database: str, options: Any, reason: str
) -> None:
    bench = make_bench(vector_database)
    with pytest.raises(EngineError, match=reason):
        bench.index(make_documents(3), params=IndexParams.for_new_index(**options))
    assert bench.encoder.encoded == []


def test_too_many_dimensions_for_a_graph(
    store: Store, home: Path, make_encoder: Any, make_documents: Documents, vector_database: str
) -> None:
    with Engines(pgvector=vector_database) as engines:
        bench = Bench(store, home, make_encoder(dimension=2001), "pgvector", engines, vector_database)
        with pytest.raises(EngineError, match="2000 dimensions"):
            bench.index(make_documents(3))
        exact = bench.index(make_documents(3), params=IndexParams.for_new_index(dense=DenseParams(kind="flat")))
        assert exact.index == "flat"
        assert bench.open().retrieve(QUERY, 3)


@pytest.mark.parametrize("phase", ["words", "index", "publishing"])
def test_a_server_that_dies_in_the_middle_of_a_build(
    make_bench: Callable[[str], Bench], make_documents: Documents, own_server: Server, phase: str
) -> None:
    bench = make_bench(own_server.url)
    bench.index(make_documents(4))
    before = [hit.chunk.id for hit in bench.open().retrieve(QUERY, 100)]
    stopped: list[int] = []

    def stop(progress: IndexProgress) -> None:
        if progress.phase == phase and not stopped:
            stopped.append(1)
            own_server.control("--mode", "immediate", "stop")

    if phase == "publishing":  # all is written: the SQL store, another database, publishes it
        bench.index(make_documents(7), progress=stop)
    else:
        with pytest.raises(EngineUnavailableError):
            bench.index(make_documents(7), progress=stop)
    with pytest.raises(EngineUnavailableError):
        bench.open()
    start_again(own_server)
    found = [hit.chunk.id for hit in bench.open().retrieve(QUERY, 100)]
    assert (found == before) == (phase != "publishing")
    again = bench.index(make_documents(7))
    assert again.embedded == 0
    assert len(contents(bench)) == 1 + (phase != "publishing")
    assert again.generation_hash == bench.local().index(make_documents(7), "files").generation_hash


def test_a_server_that_dies_while_it_is_queried_and_comes_back(
    make_bench: Callable[[str], Bench], make_documents: Documents, own_server: Server
) -> None:
    bench = make_bench(own_server.url)
    bench.index(make_documents(4))
    opened = bench.open()
    before = opened.retrieve(QUERY, 5)
    own_server.control("--mode", "immediate", "stop")
    for mode in ("dense", "bm25"):
        with pytest.raises(EngineUnavailableError) as raised:
            opened.retrieve(QUERY, 5, mode)
        assert raised.value.engine == "pgvector"
    start_again(own_server)
    assert opened.retrieve(QUERY, 5) == before


def test_two_processes_that_write_one_collection(
    make_bench: Callable[[str], Bench], make_documents: Documents, vector_database: str
) -> None:
    bench = make_bench(vector_database)
    bench.index(make_documents(3))
    with collection_lock(bench.store, bench.home, "c"), pytest.raises(CollectionBusyError):
        bench.index(make_documents(4))
    assert len(contents(bench)) == 1


def test_a_killed_process_leaves_no_table(
    make_bench: Callable[[str], Bench], make_documents: Documents, vector_database: str, tmp_path: Path
) -> None:
    bench = make_bench(vector_database)
    bench.index(make_documents(3))
    before = contents(bench)
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from retrieval.engines.pgvector_engine import PgVectorEngine\n"
        "from retrieval.sparse.bm25 import Bm25Params, build_bm25\n"
        "from retrieval.vectors.params import DenseParams\n"
        "with PgVectorEngine(sys.argv[1]).writer('0123456789ab', Path(sys.argv[2]), 'h', 'c') as writer:\n"
        "    writer.write_words(build_bm25([['a']] * 9, Bm25Params()))\n"
        "    writer.write_vectors(np.eye(9, dtype=np.float32), DenseParams(), lambda *_: None)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, vector_database, str(tmp_path)], timeout=120)
    assert done.returncode == -9
    assert contents(bench) == before
    assert bench.open().retrieve(QUERY, 3)
