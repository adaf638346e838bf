"""Create, list, revoke and authenticate API keys in the database. Does not depend on HTTP.

A key is ``pl-ID-SECRET``. The ID identifies its row, and the secret has 256 random bits. Only the SHA-256 hash of the
entire key is stored. A slow password hash would add no protection to a secret of 256 bits.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal, cast, get_args

from sqlalchemy import insert, or_, select, update

from app.errors import AppError
from data.columns import utc_now
from data.schema import api_keys
from data.store import Store

Scope = Literal["query", "index", "evaluate", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
LOCAL = ""
"""Name of the tenant that uses the command line of this machine."""
PREFIX = "pl-"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._@-]{0,63}")
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_KEY = re.compile(r"pl-([0-9a-f]{16})-[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Limits of one API key, None for no limit. The limits of the service apply in addition.

    requests_per_minute: number of requests. tokens_per_minute: number of tokens of prompts and completions.
    max_tokens: tokens of one answer. upload_bytes: bytes of one upload.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_tokens: int | None = None
    upload_bytes: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < 1:
                raise AppError(f"{field.name} is {value}: a limit must be at least 1; omit it for no limit")


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key, without its secret. tenant: the tenant whose collections, jobs and runs the key can access."""

    id: str
    name: str
    tenant: str
    scopes: frozenset[Scope]
    limits: KeyLimits
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def active(self, now: datetime) -> bool:
        """Return whether the key is neither revoked nor expired. now: current time."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just created. secret: the entire key, which clients send. It cannot be shown again."""

    key: Key
    secret: str


class KeyStore:
    """The API keys in the database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(
        self,
        name: str,
        scopes: Iterable[str],
        *,
        tenant: str = LOCAL,
        limits: KeyLimits | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key. Raises AppError for an invalid or taken name, an unknown scope, or a past expiry date."""
        if not _NAME.fullmatch(name):
            raise AppError(
                f"{name!r} is not a valid name of a key: use up to 64 letters, digits, dots, dashes, underscores and @"
            )
        check_tenant(tenant)
        requested = frozenset(scopes)
        unknown = sorted(requested - set(SCOPES))
        if unknown or not requested:
            raise AppError(
                f"there is no scope {unknown[0]!r}: choose from {', '.join(SCOPES)}"
                if unknown
                else f"the key has no scope: give at least one of {', '.join(SCOPES)}"
            )
        now = utc_now()
        if expires_at is not None and expires_at <= now:
            raise AppError(f"the key would expire at {expires_at.isoformat()}, which is in the past: give a later time")
        key_id = secrets.token_hex(8)
        secret = f"{PREFIX}{key_id}-{secrets.token_urlsafe(32)}"
        valid_scopes = cast("frozenset[Scope]", requested)
        key = Key(key_id, name, tenant, valid_scopes, limits or KeyLimits(), now, expires_at, None)
        with self._store.write() as connection:
            taken = select(api_keys.c.id).where(api_keys.c.name == name, api_keys.c.revoked_at.is_(None))
            if connection.execute(taken).first() is not None:
                raise AppError(f"there is already a key {name!r}: revoke it, or choose another name")
            connection.execute(
                insert(api_keys).values(
                    id=key_id,
                    name=name,
                    tenant=tenant,
                    secret_sha256=_digest(secret),
                    scopes=sorted(requested),
                    limits={k: v for k, v in asdict(key.limits).items() if v is not None},
                    created_at=now,
                    expires_at=expires_at,
                )
            )
        return NewKey(key, secret)

    def list(self) -> tuple[Key, ...]:
        """Return all keys, including revoked ones, oldest first."""
        with self._store.read() as connection:
            rows = connection.execute(select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)).mappings().all()
        return tuple(_key(dict(row)) for row in rows)

    def any_active(self) -> bool:
        """Return whether at least one key is valid."""
        now = utc_now()
        return any(key.active(now) for key in self.list())

    def revoke(self, name_or_id: str) -> Key:
        """Revoke a key with immediate effect and return it. Raises AppError if no unrevoked key has this name or ID."""
        now = utc_now()
        with self._store.write() as connection:
            row = (
                connection.execute(
                    select(api_keys).where(
                        or_(api_keys.c.id == name_or_id, api_keys.c.name == name_or_id), api_keys.c.revoked_at.is_(None)
                    )
                )
                .mappings()
                .first()
            )
            if row is None:
                raise AppError(f"there is no active key {name_or_id!r}: plumbline keys list shows all keys")
            connection.execute(update(api_keys).where(api_keys.c.id == row["id"]).values(revoked_at=now))
        return _key({**row, "revoked_at": now})

    def authenticate(self, secret: str) -> Key | None:
        """Return the key with this secret, or None if there is no such key or it is not valid. Reads the database once.

        secret: the entire key.
        """
        match = _KEY.fullmatch(secret)
        if match is None:
            return None
        with self._store.read() as connection:
            row = connection.execute(select(api_keys).where(api_keys.c.id == match[1])).mappings().first()
        if row is None or not hmac.compare_digest(row["secret_sha256"], _digest(secret)):
            return None
        key = _key(dict(row))
        return key if key.active(utc_now()) else None


def check_tenant(tenant: str) -> str:
    """Return ``tenant`` if it is a valid tenant name; "" is this machine. Raises AppError otherwise."""
    if tenant and not _TENANT.fullmatch(tenant):
        raise AppError(
            f"{tenant!r} is not a valid name of a tenant: use up to 32 lower-case letters, digits, dashes and "
            "underscores"
        )
    return tenant


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _key(row: Mapping[str, Any]) -> Key:
    known = {field.name for field in fields(KeyLimits)}
    return Key(
        id=row["id"],
        name=row["name"],
        tenant=row["tenant"],
        scopes=frozenset(cast("list[Scope]", row["scopes"])),
        limits=KeyLimits(**{k: v for k, v in row["limits"].items() if k in known}),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )
