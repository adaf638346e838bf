"""Collections by tenant: each tenant has its own names, which map to names that are unique in the store.

A stored collection name also names a folder and is unique. Its tenant and the tenant's name for it are columns of the
same row. Every look-up here filters by both, so a collection of another tenant is not found rather than forbidden.
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

_TRIES = 1000


@dataclass(frozen=True, slots=True)
class OwnCollection:
    """A tenant's collection. name: the tenant's name. stored: the name in the store, for Pipeline and the retrieval
    package.
    """

    name: str
    stored: str
    info: CollectionInfo


class TakenError(AppError):
    """The tenant already has a collection of this name."""


def own_collections(store: Store, tenant: str) -> tuple[OwnCollection, ...]:
    """The tenant's collections, by the tenant's names. Raises DataError when the database does not answer."""
    found = (OwnCollection(i.label or i.name, i.name, i) for i in list_collections(store, tenant))
    return tuple(sorted(found, key=lambda own: own.name))


def own_collection(store: Store, tenant: str, name: str) -> OwnCollection | None:
    """The tenant's collection of this name, None if it has none. Collections of other tenants are not considered."""
    return next((own for own in own_collections(store, tenant) if own.name == name), None)


def collection_key_of(connection: Connection, tenant: str, name: str) -> int | None:
    """The row key of the tenant's collection, None under the same conditions as ``own_collection``."""
    return connection.execute(select(collections.c.id).where(*_mine(tenant, name))).scalar()


def create_own_collection(store: Store, tenant: str, name: str) -> OwnCollection:
    """Create an empty collection. Raises RetrievalError for an invalid name, TakenError for a name the tenant already
    uses.
    """
    check_name(name)
    with store.write() as connection:
        if collection_key_of(connection, tenant, name) is not None:
            raise TakenError(f"there is a collection {name!r} already: choose another name, or add documents to it")
        stored = _free_name(connection, tenant, name)
        label = None if stored == name else name
        connection.execute(insert(collections).values(name=stored, tenant=tenant, label=label))
    own = own_collection(store, tenant, name)
    if own is None:
        raise AppError(f"the collection {name!r} was deleted by another process at the same moment")
    return own


def _mine(tenant: str, name: str) -> tuple[ColumnElement[bool], ...]:
    c = collections.c
    return c.tenant == tenant, (c.label == name) | (c.label.is_(None) & (c.name == name))


def _free_name(connection: Connection, tenant: str, name: str) -> str:
    """Return ``name`` for this machine, ``tenant.name`` for other tenants, with a number appended if that is taken."""
    wanted = name if tenant == LOCAL else f"{tenant}.{name}"
    for number in range(1, _TRIES):
        end = "" if number == 1 else f"-{number}"
        tried = check_name(wanted[: 64 - len(end)].rstrip(".") + end)
        if connection.execute(select(collections.c.id).where(collections.c.name == tried)).first() is None:
            return tried
    raise AppError(f"no free name is left in the store for the collection {name!r}: choose another")
