"""Generations in an engine: replacement, removal, failures, and moves between engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data.documents import Document
from retrieval.collections import check_collection, delete_collection, list_collections
from retrieval.engines.engines import Engines
from retrieval.engines.record import read_record
from retrieval.errors import EngineError, GenerationGoneError, RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.indexing.report import IndexProgress
from retrieval.upkeep.exporting import export_collection
from retrieval.upkeep.importing import import_collection
from retrieval.upkeep.repairing import repair_collection
from retrieval.upkeep.verifying import verify_collection
from tests.retrieval.engines.conftest import ENGINES, OUTSIDE, Bench
from tests.retrieval.engines.contents import contents, damage_vectors, damage_words

Documents = Callable[[int], tuple[Document, ...]]
on_each_engine = pytest.mark.parametrize("bench", ENGINES, indirect=True)
outside = pytest.mark.parametrize("bench", OUTSIDE, indirect=True)
QUERY = "machine m2x weighs"


def ids(bench: Bench, collection: str = "c") -> list[str]:
    return [hit.chunk.id for hit in bench.open(collection).retrieve(QUERY, 1000)]


@on_each_engine
def test_deleted_documents_stop_answering_and_an_open_reader_keeps_its_generation(
    bench: Bench, make_documents: Documents
) -> None:
    given = make_documents(9)
    first = bench.index(given)
    reader = bench.open()
    before = reader.retrieve(QUERY, 1000)
    second = bench.index(given[:2])
    assert second.generation_hash != first.generation_hash
    assert {one.partition(":")[0] for one in ids(bench)} == {"doc-000", "doc-001"}
    assert not reader.is_current()
    assert reader.retrieve(QUERY, 1000) == before
    assert bench.index(given[:2]).rebuilt is False
    assert len(list(generations_folder(bench.home, "c").iterdir())) == 1


@outside
def test_a_job_removes_the_generation_before_the_last(bench: Bench, make_documents: Documents) -> None:
    for count in (9, 5, 3):
        bench.index(make_documents(count))
    assert len(contents(bench)) == 2
    old = bench.open()
    bench.index(make_documents(4))
    bench.index(make_documents(5))
    assert len(contents(bench)) == 2
    with pytest.raises(GenerationGoneError):
        old.retrieve(QUERY, 5, "dense")
    with pytest.raises(GenerationGoneError):
        old.retrieve(QUERY, 5, "bm25")
    delete_collection(bench.store, bench.home, "c", bench.engines)
    assert contents(bench) == []


@outside
@pytest.mark.parametrize("phase", ["vectors", "words", "index", "publishing"])
def test_a_killed_build_leaves_nothing_and_the_old_generation_answers(
    bench: Bench, make_documents: Documents, phase: str
) -> None:
    bench.index(make_documents(5))
    before, kept = ids(bench), contents(bench)

    def stop(progress: IndexProgress) -> None:
        if progress.phase == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.index(make_documents(8), progress=stop)
    assert ids(bench) == before
    done = bench.index(make_documents(8))
    assert done.embedded == 0 or phase == "vectors"
    assert len(contents(bench)) == 2 and kept[0] in contents(bench)
    assert done.generation_hash == bench.local().index(make_documents(8), "files").generation_hash


@outside
def test_a_collection_moves_between_engines_without_embedding(bench: Bench, make_documents: Documents) -> None:
    given = make_documents(6)
    first = bench.local().index(given)
    reader = bench.open()
    expected = ids(bench)
    bench.encoder.encoded.clear()
    moved = bench.index(given)
    assert (moved.generation_hash, moved.rebuilt, moved.vectors) == (first.generation_hash, True, bench.engine)
    assert ids(bench) == expected
    assert not reader.is_current()
    # Without a wish the collection stays where it is.
    assert bench.index(make_documents(7), new=False).vectors == bench.engine
    assert list_collections(bench.store)[0].vectors == bench.engine
    bench.encoder.encoded.clear()
    back = bench.local().index(given)
    assert (back.generation_hash, back.vectors, bench.encoder.encoded) == (first.generation_hash, "local", [])
    assert bench.local().index(given).rebuilt is False
    assert contents(bench) == []


@outside
def test_a_later_job_and_query_find_the_engine_by_its_record(bench: Bench, make_documents: Documents) -> None:
    bench.index(make_documents(4))
    bench.engines.close()
    with Engines() as unaddressed:
        later = replace(bench, engines=unaddressed)
        assert later.index(make_documents(4), new=False).rebuilt is False
        assert later.index(make_documents(5), new=False).vectors == bench.engine
        assert "doc-004" in {one.partition(":")[0] for one in ids(later)}


@outside
def test_damage_is_found_and_repaired(bench: Bench, make_documents: Documents) -> None:
    report = bench.index(make_documents(8))
    expected = ids(bench)
    assert verify_collection(bench.store, bench.home, "c", engines=bench.engines).problems == ()
    for damage, what in ((damage_vectors, "vectors"), (damage_words, "BM25")):
        damage(bench)
        problems = verify_collection(bench.store, bench.home, "c", engines=bench.engines).problems
        assert any(what in problem.what for problem in problems), problems
        bench.encoder.encoded.clear()
        repaired = repair_collection(bench.store, bench.home, "c", bench.encoder, engines=bench.engines)
        assert repaired.after.problems == ()
        assert repaired.after.generation_hash == report.generation_hash
        assert (ids(bench), bench.encoder.encoded) == (expected, [])


@outside
def test_a_generation_that_is_not_there_is_an_error_and_one_job_writes_it_again(
    bench: Bench, make_documents: Documents
) -> None:
    report = bench.index(make_documents(5))
    expected = ids(bench)
    (folder,) = generations_folder(bench.home, "c").iterdir()
    record = read_record(folder)
    assert record is not None
    bench.engines.of(record).drop(record.build_id)
    with pytest.raises(GenerationGoneError) as raised:
        bench.open()
    assert raised.value.engine == bench.engine
    assert check_collection(bench.store, bench.home, "c", bench.engines).problems
    assert verify_collection(bench.store, bench.home, "c", engines=bench.engines).problems
    repaired = repair_collection(bench.store, bench.home, "c", bench.encoder, engines=bench.engines)
    assert repaired.after.problems == ()
    assert (ids(bench), bench.index(make_documents(5)).generation_hash) == (expected, report.generation_hash)


@outside
def test_an_export_is_of_files_and_an_engine_is_not_imported(
    bench: Bench, make_documents: Documents, tmp_path: Path
) -> None:
    bench.index(make_documents(6))
    expected = ids(bench)
    exported = export_collection(bench.store, bench.home, "c", tmp_path / "c.tar", bench.engines)
    taken = import_collection(bench.store, bench.home, tmp_path / "c.tar", name="d")
    assert taken.generation_hash == exported.generation_hash
    assert ids(bench, "d") == expected
    infos = {info.name: info.vectors for info in list_collections(bench.store)}
    assert infos == {"c": bench.engine, "d": "local"}
    assert sorted(path.name for path in tmp_path.glob(".c.tar*")) == []


@outside
def test_an_unreachable_engine_keeps_the_collection_from_being_deleted(bench: Bench, make_documents: Documents) -> None:
    bench.index(make_documents(3))
    nowhere = Engines(pgvector="postgresql://postgres@127.0.0.1:1/none", milvus="http://127.0.0.1:1")
    with nowhere as wrong, pytest.raises(EngineError):
        delete_collection(bench.store, bench.home, "c", wrong)
    assert ids(bench)
    with pytest.raises(RetrievalError):
        delete_collection(bench.store, bench.home, "unknown", bench.engines)
