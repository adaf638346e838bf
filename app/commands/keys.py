"""API keys of the service: make one, list them, revoke one.

``plumbline keys create NAME --scope query`` prints the key once; only its hash is kept. Scopes (repeatable): query
(ask, retrieve, verify), index (make and fill collections), evaluate (start and read evaluations), admin (all of these,
and the metrics). Every key belongs to a tenant and sees that tenant's collections, jobs and runs, no others; without
--tenant it is this machine's own, which is where plumbline index puts what it indexes. A revoked key stops working at
once.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.accounts.keys import Key, KeyStore

_OPERANDS = {"create": "NAME", "list": "", "revoke": "NAME"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", nargs="?", choices=tuple(_OPERANDS), default="list", help="default list")
    parser.add_argument("operands", nargs="*", metavar="NAME", help="the key's name (to revoke, its id will do)")
    group = parser.add_argument_group("create")
    group.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="SCOPE",
        help="query, index, evaluate or admin; repeatable (default query)",
    )
    group.add_argument("--tenant", default="", help="whose collections it sees; default this machine's own")
    group.add_argument("--expires", type=float, default=None, metavar="DAYS", help="days until it stops working")
    group.add_argument("--requests-per-minute", type=int, default=None, metavar="N", help="default no limit")
    group.add_argument("--tokens-per-minute", type=int, default=None, metavar="N", help="of prompts and answers")
    group.add_argument("--max-tokens", type=int, default=None, metavar="N", help="longest answer it may ask for")
    group.add_argument("--upload-megabytes", type=int, default=None, metavar="N", help="largest upload")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Do what was asked."""
    from app.accounts.keys import KeyStore
    from app.commands.options import open_pipeline

    action, operands = arguments.action, arguments.operands
    if len(operands) != len(_OPERANDS[action].split()):
        raise UsageError(f"usage: plumbline keys {action} {_OPERANDS[action]}".rstrip())
    with open_pipeline(arguments) as pipeline:
        keys = KeyStore(pipeline.store)
        if action == "create":
            _create(keys, arguments, output)
        elif action == "revoke":
            key = keys.revoke(operands[0])
            output.say(f"revoked {key.name} ({key.id})")
        else:
            _list(keys, output)
    return EXIT_OK


def _create(keys: KeyStore, arguments: argparse.Namespace, output: Output) -> None:
    from app.accounts.keys import KeyLimits
    from data.columns import utc_now

    expires = None
    if arguments.expires is not None:
        if not 0 < arguments.expires <= 36_500:
            raise UsageError(f"--expires is {arguments.expires}: give days, above 0 and at most 36500")
        expires = utc_now() + timedelta(days=arguments.expires)
    megabytes = arguments.upload_megabytes
    limits = KeyLimits(
        requests_per_minute=arguments.requests_per_minute,
        tokens_per_minute=arguments.tokens_per_minute,
        max_tokens=arguments.max_tokens,
        upload_bytes=None if megabytes is None else megabytes * 1_000_000,
    )
    made = keys.create(
        arguments.operands[0], arguments.scope or ["query"], tenant=arguments.tenant, limits=limits, expires_at=expires
    )
    if output.as_json:
        output.json(_facts(made.key) | {"key": made.secret})
        return
    output.data(made.secret)
    output.say("This is the only time the key is shown. Clients send it as Authorization: Bearer KEY")


def _list(keys: KeyStore, output: Output) -> None:
    from data.columns import utc_now

    found = keys.list()
    if output.as_json:
        output.json([_facts(key) for key in found])
        return
    now = utc_now()
    for key in found:
        state = "active" if key.active(now) else "revoked" if key.revoked_at else "expired"
        whose = f"tenant {key.tenant}" if key.tenant else "this machine's own"
        output.data(f"{key.id}  {key.name}: {', '.join(sorted(key.scopes))}; {whose}; {state}")
    if not found:
        output.say("no key yet: make one with plumbline keys create NAME --scope query")


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
