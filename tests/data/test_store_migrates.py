"""Databases of earlier versions, with a row in every table, are migrated on SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, insert, make_url, select, text
from sqlalchemy.exc import IntegrityError

from data.document_rows import document_from_row
from data.errors import SchemaVersionError
from data.schema import SCHEMA_VERSION, api_keys, collections, documents, jobs, meta, metadata, runs, samples, vectors
from data.store import Store

NOW = "'2026-01-01T00:00:00.000000+00:00'"
ROWS = (
    f"INSERT INTO collections (name, created_at) VALUES ('c', {NOW})",
    "INSERT INTO documents (collection_id, document_id, sha256, title, text, metadata, created_at) "
    f"VALUES (1, 'd', 'h', 'T', 'words', '{{\"k\": \"v\"}}', {NOW})",
    "INSERT INTO generations (collection_id, hash, folder, status, manifest, created_at) "
    f"VALUES (1, 'g', 'f', 'published', '{{}}', {NOW})",
    "INSERT INTO generation_documents (generation_id, document_row) VALUES (1, 1)",
    "UPDATE collections SET current_generation_id = 1",
    "INSERT INTO vectors (encoder, text_sha256, vector) VALUES ('e', 'h', 'v')",
    "INSERT INTO jobs (id, kind, status, progress, owner, created_at) "
    f"VALUES ('j', 'k', 'running', '{{}}', 'o', {NOW})",
    f"INSERT INTO queries (id, question, params, answer, created_at) VALUES ('q', 'why?', '{{}}', '{{}}', {NOW})",
    f"INSERT INTO runs (id, name, config, status, created_at) VALUES ('r', 'n', '{{}}', 'finished', {NOW})",
    "INSERT INTO run_questions (run_id, question_id, position, question) VALUES ('r', 'q', 0, '{}')",
    "INSERT INTO samples (run_id, question_id, arm, decoding, sample, seed, completion, prompt, evaluation, "
    f"created_at) VALUES ('r', 'q', 'rag', 'd', 0, 1, '{{}}', '{{}}', '{{}}', {NOW})",
    "INSERT INTO verdicts (run_id, question_id, arm, decoding, sample, claim, verifier, label, reason, evidence, "
    "claim_text, claim_start, claim_end) VALUES ('r', 'q', 'rag', 'd', 0, 0, 'v', 'supported', '', '[]', 't', 0, 1)",
)


def run_sql(url: str, statements: list[str]) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def as_version_2(url: str) -> None:
    """Create the tables of version 2, with a row in each."""
    kind = make_url(url).get_backend_name()
    ddl = (Path(__file__).parent / "versions" / f"version_2.{kind}.sql").read_text()
    run_sql(url, [line.rstrip(";") for line in ddl.splitlines() if not line.startswith("--")])
    run_sql(url, [row.replace(":", "\\:") for row in ROWS])


def as_version_1(url: str) -> None:
    """Create the tables of version 1, without outlines and without owners of vectors."""
    as_version_2(url)
    run_sql(
        url,
        [
            "DROP TABLE vectors",
            f"CREATE TABLE vectors (encoder TEXT NOT NULL, text_sha256 VARCHAR(64) NOT NULL, vector "
            f"{'BLOB' if url.startswith('sqlite') else 'BYTEA'} NOT NULL, "
            "CONSTRAINT pk_vectors PRIMARY KEY (encoder, text_sha256))",
            "INSERT INTO vectors (encoder, text_sha256, vector) VALUES ('e', 'h', 'v')",
            "ALTER TABLE documents DROP COLUMN outline",
            "UPDATE meta SET value = '1'",
        ],
    )


@pytest.mark.parametrize("made", [as_version_1, as_version_2])
def test_an_older_database_is_brought_along_with_what_it_holds(database_url: str, made: object) -> None:
    made(database_url)  # type: ignore[operator]
    for _ in range(2):  # the second opening migrates nothing
        with Store.open(database_url) as store, store.read() as connection:
            assert connection.execute(select(meta.c.value)).scalar_one() == SCHEMA_VERSION
            document = connection.execute(select(documents)).mappings().one()
            assert document_from_row(document).metadata == (("k", "v"),)
            assert document["outline"] is None
            assert connection.execute(select(vectors.c.collection_id)).scalar_one() is None
            assert connection.execute(select(samples.c.arm)).scalar_one() == "rag"
            # Rows from before tenants belong to this machine.
            assert connection.execute(select(collections.c.tenant)).scalar_one() == ""
            assert connection.execute(select(runs.c.tenant)).scalar_one() == ""
            job = connection.execute(select(jobs)).mappings().one()
            assert (job["tenant"], job["attempts"], job["stopping"], job["request"]) == ("", 0, False, None)
            for table in metadata.sorted_tables:
                lost = not connection.execute(select(table).limit(1)).first()
                later = {"label_draws", "labels", "api_keys", "audits", "audit_labels", "anchor_checks", "rate_buckets"}
                assert lost == (table.name in later)


def test_the_owner_of_a_vector_that_was_given_one_may_go(database_url: str) -> None:
    # SQLAlchemy does not reflect ON DELETE of a column added to an SQLite table, so it is tested by deleting.
    as_version_1(database_url)
    with Store.open(database_url) as store:
        with store.write() as connection:
            connection.execute(insert(collections).values(name="other"))
            owner = connection.execute(select(collections.c.id).where(collections.c.name == "other")).scalar_one()
            connection.execute(vectors.update().values(collection_id=owner))
            connection.execute(collections.delete().where(collections.c.id == owner))
        with store.read() as connection:
            assert connection.execute(select(vectors.c.collection_id)).scalars().all() == [None]


@pytest.mark.parametrize("made", [as_version_2, None])
def test_the_tables_are_those_of_the_schema_however_they_came_about(database_url: str, made: object) -> None:
    if made is not None:
        made(database_url)  # type: ignore[operator]
    with Store.open(database_url) as store, store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [SCHEMA_VERSION]


def test_what_was_brought_along_keeps_what_it_promises(database_url: str) -> None:
    as_version_2(database_url)
    with Store.open(database_url) as store:
        for _ in range(2):  # null labels are not equal
            with store.write() as connection:
                connection.execute(insert(collections).values(name=str(_), tenant="t"))
        with store.write() as connection:
            connection.execute(insert(collections).values(name="x", tenant="t", label="same"))
            connection.execute(insert(collections).values(name="y", tenant="u", label="same"))
        with pytest.raises(IntegrityError), store.write() as connection:
            connection.execute(insert(collections).values(name="z", tenant="t", label="same"))
        key = {"name": "n", "secret_sha256": "s", "scopes": ["query"], "limits": {}}
        with store.write() as connection:
            connection.execute(insert(api_keys).values(id="k", **key))


def test_a_newer_database_is_refused_by_its_version(database_url: str) -> None:
    newer = str(int(SCHEMA_VERSION) + 1)
    with Store.open(database_url) as store, store.write() as connection:
        connection.execute(meta.update().values(value=newer))
    with pytest.raises(SchemaVersionError, match=f"{newer}"):
        Store.open(database_url)
