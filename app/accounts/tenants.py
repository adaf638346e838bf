"""Collections of a tenant. Each tenant has its own names, which map to names that are unique in the store.

The stored name of a collection is also the name of its folder. The tenant and the tenant's name are columns of the same
row. Every query here filters by both, so that a collection of another tenant is not found rather than forbidden.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.keys import LOCAL
from app.errors import AppError
from data.schema import collections
from data.store import Store
from retrieval.collections import CollectionInfo, list_collections
from retrieval.generations.collection_folder import check_name

_MOST_TRIES = 1000


@dataclass(frozen=True, slots=True)
class TenantCollection:
    """A tenant's collection. name: name that the tenant uses. stored: name in the store, for Pipeline and retrieval."""

    name: str
    stored: str
    info: CollectionInfo


class NameTakenError(AppError):
    """The tenant already has a collection of this name."""


def tenant_collections(store: Store, tenant: str) -> tuple[TenantCollection, ...]:
    """Return the tenant's collections, sorted by name. Raises DataError if the database does not answer."""
    own = (TenantCollection(i.label or i.name, i.name, i) for i in list_collections(store, tenant))
    return tuple(sorted(own, key=lambda collection: collection.name))


def tenant_collection(store: Store, tenant: str, name: str) -> TenantCollection | None:
    """Return the tenant's collection of this name, or None if it has none. name: name that the tenant uses."""
    return next((own for own in tenant_collections(store, tenant) if own.name == name), None)


def collection_key_of(connection: Connection, tenant: str, name: str) -> int | None:
    """Return the primary key of the tenant's collection, or None if it has no collection of this name."""
    return connection.execute(select(collections.c.id).where(*_mine(tenant, name))).scalar()


def create_tenant_collection(store: Store, tenant: str, name: str) -> TenantCollection:
    """Create an empty collection. name: name that the tenant uses.

    Raises RetrievalError for an invalid name, NameTakenError if the tenant already has a collection of this name.
    """
    check_name(name)
    with store.write() as connection:
        if collection_key_of(connection, tenant, name) is not None:
            raise NameTakenError(f"there is already a collection {name!r}: choose another name, or add documents to it")
        stored = _free_name(connection, tenant, name)
        label = None if stored == name else name
        connection.execute(insert(collections).values(name=stored, tenant=tenant, label=label))
    created = tenant_collection(store, tenant, name)
    if created is None:
        raise AppError(f"the collection {name!r} was deleted by another process while it was created")
    return created


def _mine(tenant: str, name: str) -> tuple[ColumnElement[bool], ...]:
    c = collections.c
    return c.tenant == tenant, (c.label == name) | (c.label.is_(None) & (c.name == name))


def _free_name(connection: Connection, tenant: str, name: str) -> str:
    """Return ``name`` for this machine or ``tenant.name`` for other tenants, with a number if that is taken."""
    base = name if tenant == LOCAL else f"{tenant}.{name}"
    for number in range(1, _MOST_TRIES):
        suffix = "" if number == 1 else f"-{number}"
        candidate = check_name(base[: 64 - len(suffix)].rstrip(".") + suffix)
        if connection.execute(select(collections.c.id).where(collections.c.name == candidate)).first() is None:
            return candidate
    raise AppError(f"the store has no free name for the collection {name!r}: choose another name")
