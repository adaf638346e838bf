"""Whose collections are whose: each tenant has its own names, which stand for names that are unique among all.

A collection's name in the store names a folder and is unique; its tenant and what the tenant calls it are columns
beside it, and every look-up here asks for both, so that what belongs to another tenant is not found rather than
refused.
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
    """name: what its tenant calls it. stored: its name in the store, for Pipeline and the retrieval room."""

    name: str
    stored: str
    info: CollectionInfo


class TakenError(AppError):
    """The tenant has a collection of this name already."""


def own_collections(store: Store, tenant: str) -> tuple[OwnCollection, ...]:
    """The tenant's collections, by its own names. Raises DataError when the database does not answer."""
    found = (OwnCollection(i.label or i.name, i.name, i) for i in list_collections(store, tenant))
    return tuple(sorted(found, key=lambda own: own.name))


def own_collection(store: Store, tenant: str, name: str) -> OwnCollection | None:
    """The tenant's collection of this name; None when it has none, whoever else may have one."""
    return next((own for own in own_collections(store, tenant) if own.name == name), None)


def collection_key_of(connection: Connection, tenant: str, name: str) -> int | None:
    """The key of the row of the tenant's collection; None as ``own_collection``."""
    return connection.execute(select(collections.c.id).where(*_mine(tenant, name))).scalar()


def create_own_collection(store: Store, tenant: str, name: str) -> OwnCollection:
    """Make an empty collection. Raises RetrievalError for a bad name, TakenError when the tenant has one of it."""
    check_name(name)
    with store.write() as connection:
        if collection_key_of(connection, tenant, name) is not None:
            raise TakenError(f"there is a collection {name!r} already: choose another name, or add documents to it")
        stored = _free_name(connection, tenant, name)
        label = None if stored == name else name
        connection.execute(insert(collections).values(name=stored, tenant=tenant, label=label))
    own = own_collection(store, tenant, name)
    if own is None:
        raise AppError(f"the collection {name!r} was deleted by somebody else at the same moment")
    return own


def _mine(tenant: str, name: str) -> tuple[ColumnElement[bool], ...]:
    c = collections.c
    return c.tenant == tenant, (c.label == name) | (c.label.is_(None) & (c.name == name))


def _free_name(connection: Connection, tenant: str, name: str) -> str:
    """``name`` for this machine's own, ``tenant.name`` for others; with a number behind where that is taken."""
    wanted = name if tenant == LOCAL else f"{tenant}.{name}"
    for number in range(1, _TRIES):
        end = "" if number == 1 else f"-{number}"
        tried = check_name(wanted[: 64 - len(end)].rstrip(".") + end)
        if connection.execute(select(collections.c.id).where(collections.c.name == tried)).first() is None:
            return tried
    raise AppError(f"no name is left in the store for the collection {name!r}: choose another")
