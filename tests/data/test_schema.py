from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.schema import CreateTable

from data import schema
from data.columns import UtcDateTime
from data.document_rows import document_from_row, document_values
from data.documents import Document
from data.store import Store


@pytest.fixture
def store(database_url: str):
    with Store.open(database_url) as opened:
        yield opened


def add_collection(store: Store, name: str = "c") -> int:
    with store.write() as connection:
        key = connection.execute(insert(schema.collections).values(name=name)).inserted_primary_key
    assert key is not None
    return int(key[0])


def add_published_generation(store: Store, collection: int) -> int:
    with store.write() as connection:
        document = connection.execute(
            insert(schema.documents).values(document_values(Document("d", "T", "text"), collection))
        ).inserted_primary_key[0]
        generation = connection.execute(
            insert(schema.generations).values(
                collection_id=collection, hash="h", folder="f", status="published", manifest={"k": 1}
            )
        ).inserted_primary_key[0]
        connection.execute(insert(schema.generation_documents).values(generation_id=generation, document_row=document))
        connection.execute(update(schema.collections).values(current_generation_id=generation))
    return int(generation)


def add_sample(store: Store) -> dict[str, object]:
    key = {"run_id": "r", "question_id": "q", "arm": "rag", "decoding": "greedy", "sample": 0}
    with store.write() as connection:
        connection.execute(insert(schema.runs).values(id="r", name="n", config={}, status="running"))
        connection.execute(
            insert(schema.samples).values(
                **key, seed=2**63 - 1, completion={"text": "é"}, prompt={}, evaluation={"outcome": "supported"}
            )
        )
    return key


def verdict(key: dict[str, object], claim: int, verifier: str) -> dict[str, object]:
    return {
        **key,
        "claim": claim,
        "verifier": verifier,
        "label": "unscored",
        "support": None,
        "reason": "none",
        "evidence": [],
        "claim_text": "t",
        "claim_start": 0,
        "claim_end": 1,
    }


def test_every_table_has_postgresql_ddl() -> None:
    ddl = "\n".join(
        str(CreateTable(table).compile(dialect=postgresql.dialect())) for table in schema.metadata.sorted_tables
    )
    assert "TIMESTAMP WITH TIME ZONE" in ddl
    assert "BYTEA" in ddl
    assert "seed BIGINT" in ddl


def test_deleting_a_collection_takes_its_documents_and_generations(store: Store) -> None:
    add_published_generation(store, add_collection(store))
    with store.write() as connection:
        connection.execute(delete(schema.generations))  # PostgreSQL deletes documents first
        connection.execute(delete(schema.collections))
    with store.read() as connection:
        for table in (schema.documents, schema.generations, schema.generation_documents):
            assert connection.execute(select(table)).all() == []


def test_a_document_that_a_generation_answers_from_cannot_be_deleted(store: Store) -> None:
    add_published_generation(store, add_collection(store))
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(delete(schema.documents))
    with store.read() as connection:
        assert len(connection.execute(select(schema.documents)).all()) == 1


def test_deleting_the_current_generation_leaves_the_collection_without_one(store: Store) -> None:
    add_published_generation(store, add_collection(store))
    with store.write() as connection:
        connection.execute(delete(schema.generations))
    with store.read() as connection:
        assert connection.scalar(select(schema.collections.c.current_generation_id)) is None


def test_foreign_keys_are_on(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(insert(schema.documents).values(document_values(Document("d", "", "x"), 999)))
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(update(schema.collections).values(current_generation_id=5))
        connection.execute(insert(schema.collections).values(name="c", current_generation_id=5))


def test_a_number_is_never_given_twice(store: Store) -> None:
    first = add_collection(store)
    with store.write() as connection:
        connection.execute(delete(schema.collections))
    assert add_collection(store) > first


def test_unique_rules_and_generation_status(store: Store) -> None:
    collection = add_collection(store)
    add_published_generation(store, collection)
    for statement in (
        insert(schema.documents).values(document_values(Document("d", "T", "text"), collection)),
        insert(schema.collections).values(name="c"),
        insert(schema.generations).values(
            collection_id=collection, hash="other", folder="f", status="nearly", manifest={}
        ),
        insert(schema.generations).values(
            collection_id=collection, hash="h", folder="f", status="building", manifest={}
        ),
        insert(schema.queries).values(id="x", question="q", params={}, answer=None),
    ):
        with pytest.raises(IntegrityError), store.write() as connection:
            connection.execute(statement)
    with store.write() as connection:  # each version of a document is a row
        connection.execute(insert(schema.documents).values(document_values(Document("d", "T", "new"), collection)))


def test_verdicts_belong_to_a_sample_and_several_verifiers_may_judge_a_claim(store: Store) -> None:
    key = add_sample(store)
    with store.write() as connection:
        connection.execute(insert(schema.verdicts), [verdict(key, 0, "a/1"), verdict(key, 0, "b/1")])
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(insert(schema.verdicts), [verdict(key, 0, "a/1")])
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(insert(schema.verdicts), [verdict({**key, "sample": 1}, 0, "a/1")])
    with store.read() as connection:
        row = connection.execute(select(schema.samples)).one()
        assert (row.seed, row.completion) == (2**63 - 1, {"text": "é"})
    with store.write() as connection:
        connection.execute(delete(schema.runs))
    with store.read() as connection:
        assert connection.execute(select(schema.verdicts)).all() == []


def test_a_nan_in_json_is_refused(store: Store) -> None:
    with pytest.raises((StatementError, ValueError), match="not JSON compliant"), store.write() as connection:
        connection.execute(insert(schema.runs).values(id="r", name="n", config={"x": float("nan")}, status="s"))


def test_times_come_back_aware_and_in_utc_and_order_as_text(store: Store) -> None:
    noon = datetime(2026, 1, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    with store.write() as connection:
        connection.execute(insert(schema.collections), [{"name": "a", "created_at": noon}])
        connection.execute(insert(schema.collections).values(name="b"))
    with store.read() as connection:
        times = dict(connection.execute(select(schema.collections.c.name, schema.collections.c.created_at)).all())
        later = connection.scalars(
            select(schema.collections.c.name).where(schema.collections.c.created_at > noon)
        ).all()
    assert times["a"] == noon
    assert times["a"].tzinfo is UTC
    assert abs(times["b"] - datetime.now(UTC)) < timedelta(minutes=5)
    assert later == ["b"]
    with pytest.raises(StatementError, match="no time zone"), store.write() as connection:
        connection.execute(insert(schema.collections).values(name="c", created_at=datetime(2026, 1, 1)))


@settings(deadline=None)
@given(
    st.lists(
        st.datetimes(
            min_value=datetime(1000, 1, 3),
            max_value=datetime(9000, 1, 1),
            timezones=st.sampled_from([UTC, timezone(timedelta(hours=-11)), timezone(timedelta(hours=5, minutes=45))]),
        ),
        min_size=2,
    )
)
def test_texts_of_times_sort_as_the_times_do(times: list[datetime]) -> None:
    from sqlalchemy.dialects import sqlite

    column, dialect = UtcDateTime(), sqlite.dialect()
    texts = [column.process_bind_param(time, dialect) for time in times]
    assert sorted(texts) == [column.process_bind_param(time, dialect) for time in sorted(times)]
    assert [column.process_result_value(text, dialect) for text in texts] == times


def test_a_document_comes_back_from_its_row(store: Store) -> None:
    document = Document("a/b.md", "Title", " text\n", (("k", "ü"), ("l", "2")))
    collection = add_collection(store)
    with store.write() as connection:
        connection.execute(insert(schema.documents).values(document_values(document, collection)))
    with store.read() as connection:
        row = connection.execute(select(schema.documents)).mappings().one()
    assert document_from_row(row) == document
    assert row["sha256"] == document.sha256
