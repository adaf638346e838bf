"""Create, list and revoke API keys of the service.

``plumbline keys create NAME --scope query`` prints the key once. Only its hash is stored. Scopes (repeatable): query
(ask, retrieve, verify), index (create and fill collections), evaluate (start and read evaluations), admin (all of
these, and the metrics).

Every key belongs to a tenant and can access only that tenant's collections, jobs and runs. Without --tenant it belongs
to the tenant of this machine, which owns the collections of ``plumbline index``. A revoked key is invalid immediately.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from app.commands.parser import add_nested
from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.accounts.keys import Key, KeyStore

_CREATE = """Create a key and print it once. Only its hash is stored.

Clients send it as Authorization: Bearer KEY."""
_LIST = "List the keys with ID, name, scopes, tenant and state."
_REVOKE = "Revoke a key, which becomes invalid immediately."


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = (("create", _CREATE, _add_create), ("list", _LIST, _no_arguments), ("revoke", _REVOKE, _add_revoke))
    add_nested(parser, "action", actions, default="list")


def _no_arguments(_parser: argparse.ArgumentParser) -> None:
    return


def _add_revoke(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name or ID of the key")


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the key")
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="SCOPE",
        help="scope of the key: query, index, evaluate or admin; repeatable (default query)",
    )
    parser.add_argument("--tenant", default="", help="tenant whose data the key can access (default: this machine)")
    parser.add_argument("--expires", type=float, default=None, metavar="DAYS", help="days until the key expires")
    parser.add_argument(
        "--requests-per-minute", type=int, default=None, metavar="N", help="maximum requests per minute"
    )
    parser.add_argument(
        "--tokens-per-minute",
        type=int,
        default=None,
        metavar="N",
        help="maximum tokens of prompts and answers per minute",
    )
    parser.add_argument(
        "--max-tokens", type=int, default=None, metavar="N", help="maximum length of an answer, in tokens"
    )
    parser.add_argument(
        "--upload-megabytes", type=int, default=None, metavar="N", help="maximum size of an upload, in megabytes"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    from app.accounts.keys import KeyStore
    from app.commands.options import open_pipeline

    with open_pipeline(arguments) as pipeline:
        keys = KeyStore(pipeline.store)
        if arguments.action == "create":
            _create(keys, arguments, output)
        elif arguments.action == "revoke":
            key = keys.revoke(arguments.name)
            output.info(f"revoked {key.name} ({key.id})")
        else:
            _list(keys, output)
    return EXIT_OK


def _create(keys: KeyStore, arguments: argparse.Namespace, output: Output) -> None:
    from app.accounts.keys import KeyLimits
    from data.columns import utc_now

    expires = None
    if arguments.expires is not None:
        if not 0 < arguments.expires <= 36_500:
            raise UsageError(f"--expires is {arguments.expires}: it must be above 0 and at most 36500 days")
        expires = utc_now() + timedelta(days=arguments.expires)
    megabytes = arguments.upload_megabytes
    limits = KeyLimits(
        requests_per_minute=arguments.requests_per_minute,
        tokens_per_minute=arguments.tokens_per_minute,
        max_tokens=arguments.max_tokens,
        upload_bytes=None if megabytes is None else megabytes * 1_000_000,
    )
    created = keys.create(
        arguments.name, arguments.scope or ["query"], tenant=arguments.tenant, limits=limits, expires_at=expires
    )
    if output.as_json:
        output.json(_facts(created.key) | {"key": created.secret})
        return
    output.data(created.secret)
    output.info("This is the only time the key is shown. Clients send it as Authorization: Bearer KEY")


def _list(keys: KeyStore, output: Output) -> None:
    from data.columns import utc_now

    every = keys.list()
    if output.as_json:
        output.json([_facts(key) for key in every])
        return
    now = utc_now()
    for key in every:
        state = "active" if key.active(now) else "revoked" if key.revoked_at else "expired"
        tenant = f"tenant {key.tenant}" if key.tenant else "this machine"
        output.data(f"{key.id}  {key.name}: {', '.join(sorted(key.scopes))}; {tenant}; {state}")
    if not every:
        output.info("no key yet: create one with plumbline keys create NAME --scope query")


def _facts(key: Key) -> dict[str, Any]:
    def moment(value: Any) -> str | None:
        return value.isoformat() if value else None

    return {
        "id": key.id,
        "name": key.name,
        "tenant": key.tenant,
        "scopes": sorted(key.scopes),
        "limits": asdict(key.limits),
        "created_at": moment(key.created_at),
        "expires_at": moment(key.expires_at),
        "revoked_at": moment(key.revoked_at),
    }
