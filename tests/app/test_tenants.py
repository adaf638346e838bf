"""Each tenant has its own names of collections, and does not find those of others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.accounts.tenants import NameTakenError, create_tenant_collection, tenant_collection, tenant_collections
from data.store import Store
from retrieval.collections import list_collections
from retrieval.errors import RetrievalError


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def test_tenants_may_use_the_same_name(store: Store) -> None:
    made = {tenant: create_tenant_collection(store, tenant, "handbook") for tenant in ("", "acme", "globex")}
    assert {tenant: own.name for tenant, own in made.items()} == dict.fromkeys(made, "handbook")
    assert len({own.stored for own in made.values()}) == 3
    for tenant, own in made.items():
        assert tenant_collections(store, tenant) == (own,)
        with pytest.raises(NameTakenError, match="'handbook'"):
            create_tenant_collection(store, tenant, "handbook")
    assert tenant_collection(store, "initech", "handbook") is None
    assert tenant_collection(store, "", "acme.handbook") is None  # the name in the store opens nothing


def test_a_name_in_the_store_that_is_taken_by_another_tenant_tells_nothing(store: Store) -> None:
    create_tenant_collection(store, "", "acme.handbook")
    own = create_tenant_collection(store, "acme", "handbook")
    assert (own.name, own.stored) == ("handbook", "acme.handbook-2")
    assert tenant_collection(store, "", "acme.handbook-2") is None
    mine = create_tenant_collection(store, "", "acme.handbook-2")
    assert mine.name == "acme.handbook-2"
    assert mine.stored != own.stored


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a b", "é", "x" * 65, "a\n"])
def test_a_bad_name_is_refused(store: Store, name: str) -> None:
    with pytest.raises(RetrievalError, match="collection"):
        create_tenant_collection(store, "acme", name)
    assert list_collections(store) == ()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["", "a", "b-c"]), st.from_regex(r"[a.-]{1,3}|x{60,64}", fullmatch=True))))
def test_whatever_is_made_each_tenant_sees_what_it_made(store: Store, made: list[tuple[str, str]]) -> None:
    before = {tenant: {own.name for own in tenant_collections(store, tenant)} for tenant in ("", "a", "b-c")}
    for tenant, name in made:
        try:
            create_tenant_collection(store, tenant, name)
        except NameTakenError:
            assert name in before[tenant]
        except RetrievalError:
            assert name.startswith(".")
        else:
            assert name not in before[tenant]
            before[tenant].add(name)
    assert {tenant: {own.name for own in tenant_collections(store, tenant)} for tenant in before} == before
