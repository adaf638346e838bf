"""200 damaged artefacts: each is refused by name or harmless, then repaired or refused by name. None answers wrongly.

Bits flipped, files cut short, emptied, deleted, swapped and added; manifests and database rows edited; the database
file itself damaged. Everything is drawn from a printed seed.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text

from benchmarks.corpus import made_up
from benchmarks.hashing_encoder import HashingEncoder
from data.errors import DataError
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.indexing.indexer import index_documents
from retrieval.upkeep.repairing import repair_collection
from retrieval.upkeep.verifying import verify_collection

pytestmark = pytest.mark.drill
SEED = 20261121
TRIALS = 200
DOCUMENTS = 12

ROWS = (
    ("documents", "text", "'forged ' || text"),
    ("documents", "title", "'forged'"),
    ("documents", "sha256", "'0' || substr(sha256, 2)"),
    ("documents", "document_id", "document_id || 'x'"),
    ("documents", "metadata", "'{\"broken'"),
    ("documents", "outline", "'[7]'"),
    ("documents", "text", "x'ff00ff'"),
    ("documents", "collection_id", "2"),
    ("vectors", "vector", "substr(vector, 1, 20)"),
    ("vectors", "vector", "zeroblob(length(vector))"),
    ("vectors", "vector", "(SELECT vector FROM vectors AS other WHERE other.rowid > vectors.rowid LIMIT 1)"),
    ("vectors", "text_sha256", "'0' || substr(text_sha256, 2)"),
    ("generations", "manifest", "replace(manifest, '0.9', '0.8')"),
    ("generations", "manifest", "substr(manifest, 1, 100)"),
    ("generations", "manifest", "replace(manifest, 'sha256', 'sha255')"),
    ("generations", "hash", "'f' || substr(hash, 2)"),
    ("generations", "folder", "'collections/other'"),
    ("generations", "status", "'building'"),
    ("collections", "current_generation_id", "(SELECT max(id) FROM generations)"),
    ("collections", "current_generation_id", "NULL"),
    ("generation_documents", "document_row", "document_row + 1000"),
)


@dataclass(frozen=True, slots=True)
class DamageTarget:
    home: Path
    folder: Path  # of the generation that is damaged
    other: Path  # of another collection's


Answers = list[tuple[str, str, float]]


def ask(store: Store, home: Path, encoder: HashingEncoder, questions: list[str]) -> Answers:
    retriever = open_retriever(store, home, "c", encoder)
    return [
        (hit.chunk.id, hit.chunk.text, round(hit.score, 5))
        for question in questions
        for mode in ("hybrid", "dense", "bm25")
        for hit in retriever.retrieve(question, 10, mode)
    ]


def damaged_file(rng: random.Random, target: DamageTarget) -> str:
    path = rng.choice(sorted(path for path in target.folder.iterdir()))
    content = bytearray(path.read_bytes())
    way = rng.choice(["flip", "flip", "cut", "empty", "delete", "swap", "swap inside", "append", "add"])
    if way == "flip":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif way == "cut":
        del content[rng.randrange(len(content)) :]
    elif way == "empty":
        content.clear()
    elif way == "append":
        content += b"\0" * rng.randrange(1, 100)
    elif way == "swap":
        content[:] = (target.other / path.name).read_bytes()
    elif way == "swap inside":
        content[:] = rng.choice(sorted(target.folder.iterdir())).read_bytes()
    if way == "delete":
        path.unlink()
    elif way == "add":
        (target.folder / "bm25_absent.npy").write_bytes(bytes(content))
    else:
        path.write_bytes(bytes(content))
    return f"{way} {path.name}"


def edited_manifest(rng: random.Random, target: DamageTarget) -> str:
    path = target.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    way = rng.choice(["k1", "chunks", "encoder", "file hash", "file gone", "format", "chunking", "kind"])
    if way == "k1":
        manifest["params"]["bm25"]["k1"] = 1.7
    elif way == "chunks":
        manifest["chunks"] += 1
    elif way == "encoder":
        manifest["encoder"] = "0" * 64
    elif way == "file hash":
        rng.choice(manifest["files"])["sha256"] = "0" * 64
    elif way == "file gone":
        manifest["files"].pop(rng.randrange(len(manifest["files"])))
    elif way == "format":
        manifest["format"] = 99
    elif way == "chunking":
        manifest["params"]["chunking"]["max_tokens"] = 5
    else:
        manifest["params"]["dense"]["kind"] = "hnsw"
    path.write_text(json.dumps(manifest))
    if rng.random() < 0.5:  # and the database's copy alike
        with Store.open(f"sqlite:///{target.home}/p.db") as store, store.write() as connection:
            connection.execute(
                text("UPDATE generations SET manifest = :value WHERE folder LIKE '%/c/%'"),
                {"value": json.dumps(manifest)},
            )
        return f"manifest twice, {way}"
    return f"manifest, {way}"


def edited_row(rng: random.Random, target: DamageTarget) -> str:
    table, column, value = rng.choice(ROWS)
    where = {"collections": "name = 'c'", "generations": "folder LIKE '%/c/%'"}.get(
        table, f"rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {rng.randrange(DOCUMENTS)})"
    )
    with Store.open(f"sqlite:///{target.home}/p.db") as store, store.write() as connection:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        if table == "generation_documents":
            connection.execute(text(f"DELETE FROM {table} WHERE {where}"))
        else:
            connection.execute(text(f"UPDATE {table} SET {column} = {value} WHERE {where}"))
    return f"{table}.{column} = {value[:20]}"


def damaged_database(rng: random.Random, target: DamageTarget) -> str:
    path = target.home / "p.db"
    content = bytearray(path.read_bytes())
    if rng.random() < 0.3:
        del content[rng.randrange(100, len(content)) :]
        way = "database cut"
    else:
        for _ in range(20):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        way = "database flipped"
    path.write_bytes(bytes(content))
    return way


WAYS: tuple[tuple[Callable[[random.Random, DamageTarget], str], int], ...] = (
    (damaged_file, 90),
    (edited_manifest, 40),
    (edited_row, 55),
    (damaged_database, 15),
)


def test_no_damaged_artefact_answers_wrongly(tmp_path: Path) -> None:
    print(f"seed {SEED}, {TRIALS} trials")
    rng = random.Random(SEED)
    encoder = HashingEncoder()
    stream = made_up()
    given = [next(stream) for _ in range(2 * DOCUMENTS)]
    sound = tmp_path / "sound"
    with Store.open(f"sqlite:///{sound}/p.db") as store:
        first = index_documents(store, sound, "c", given[:DOCUMENTS], encoder)
        second = index_documents(store, sound, "other", given[DOCUMENTS:], encoder)
        questions = [document.text[:60] for document in given[:4]]
        right = ask(store, sound, encoder, questions)
        assert verify_collection(store, sound, "c").problems == ()
    trials = [way for way, share in WAYS for _ in range(share)]
    assert len(trials) == TRIALS
    outcomes: Counter[str] = Counter()
    for number, way in enumerate(trials):
        home = tmp_path / "home"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(sound, home)
        target = DamageTarget(
            home,
            generations_folder(home, "c") / first.generation_hash,
            generations_folder(home, "other") / second.generation_hash,
        )
        what = f"trial {number}: {way(rng, target)}"
        outcomes[_outcome(home, encoder, questions, right, given[:DOCUMENTS], what)] += 1
    print(dict(outcomes))
    assert sum(outcomes.values()) == TRIALS
    assert outcomes["refused, repaired"] > TRIALS / 3


def _outcome(
    home: Path, encoder: HashingEncoder, questions: list[str], right: Answers, given: list[object], what: str
) -> str:
    """What became of one damaged home; fails if anything answered wrongly."""
    refusals = (RetrievalError, DataError)
    try:
        with Store.open(f"sqlite:///{home}/p.db") as store:
            try:
                assert ask(store, home, encoder, questions) == right, f"{what}: answered wrongly"
                refused = False
            except refusals as error:
                assert len(str(error)) > 30, what
                refused = True
            try:
                verified = verify_collection(store, home, "c")
            except refusals:
                return "database refused"
            assert verified.problems or not refused, f"{what}: refused, and yet nothing was found wrong"
            if not verified.problems:
                return "harmless"
            try:
                repaired = repair_collection(store, home, "c", encoder)
            except refusals as error:
                assert len(str(error)) > 30, what
                done = "not repaired"
            else:
                assert repaired.after.problems == (), f"{what}: {repaired.after.problems}"
                assert ask(store, home, encoder, questions) == right, f"{what}: answers wrongly after repair"
                done = "repaired"
            if done == "not repaired":
                try:
                    index_documents(store, home, "c", given, encoder)  # type: ignore[arg-type]
                except refusals:
                    assert what.split(": ")[1].startswith("database"), f"{what}: not healed by its source"
                    return "database refused"
                assert ask(store, home, encoder, questions) == right, f"{what}: answers wrongly after indexing again"
                assert verify_collection(store, home, "c").problems == (), what
                done = "indexed again"
            return f"{'refused' if refused else 'found by verify'}, {done}"
    except DataError:
        return "database refused"
