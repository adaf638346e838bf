from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert, inspect, select, text

from data.document_rows import document_from_row
from data.schema import SCHEMA_VERSION, collections, documents, label_draws, labels, meta, vectors
from data.store import Store


def as_version_1(url: str) -> None:
    """The tables as version 1 had them, with a row in each that changed."""
    with Store.open(url) as store, store.write() as connection:
        connection.execute(text("DROP TABLE vectors"))
        connection.execute(
            text(
                "CREATE TABLE vectors (encoder TEXT NOT NULL, text_sha256 VARCHAR(64) NOT NULL, vector BLOB NOT NULL, "
                "CONSTRAINT pk_vectors PRIMARY KEY (encoder, text_sha256))"
            )
        )
        connection.execute(text("ALTER TABLE documents DROP COLUMN outline"))
        connection.execute(text("DROP TABLE labels"))
        connection.execute(text("DROP TABLE label_draws"))
        connection.execute(text("UPDATE meta SET value = '1'"))
        connection.execute(insert(collections).values(name="c"))
        connection.execute(
            text(
                "INSERT INTO documents (collection_id, document_id, sha256, title, text, metadata, created_at) "
                "VALUES (1, 'd', 'h', 'T', 'words', '{\"k\": \"v\"}', '2026-01-01T00:00:00.000000Z')"
            )
        )
        connection.execute(text("INSERT INTO vectors (encoder, text_sha256, vector) VALUES ('e', 'h', x'00')"))


def test_a_version_1_database_is_brought_along_with_what_it_holds(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/p.db"
    as_version_1(url)
    for _ in range(2):  # the second opening finds nothing to do
        with Store.open(url) as store, store.read() as connection:
            assert connection.execute(select(meta.c.value)).scalar_one() == SCHEMA_VERSION
            row = connection.execute(select(documents)).mappings().one()
            assert document_from_row(row).metadata == (("k", "v"),)
            assert row["outline"] is None
            assert connection.execute(select(vectors.c.collection_id)).scalar_one() is None
            indexes = {index["name"] for index in inspect(connection).get_indexes("vectors")}
            assert "ix_vectors_collection_id" in indexes
            assert connection.execute(select(labels)).all() == connection.execute(select(label_draws)).all() == []
