"""Authenticate and authorise callers, with one FastAPI dependency for every route.

Usage (the scopes are query, index, evaluate and admin; admin implies the others):

    from app.service.http.access import Caller, require

    @router.post("/v1/query")
    async def query(body: QueryBody, caller: Annotated[Caller, Depends(require("query"))]) -> ...:
        ...

``Caller.tenant`` is the tenant whose collections, jobs and runs the request may access. The tenant "" is that of this
machine, which the command line indexes. Filter by the tenant inside the database query, as app.accounts.tenants does
for collections. Objects of another tenant do not exist for the caller: the response is 404, with the same message as
for unknown ones.

``require`` answers 401 for a missing, wrong, revoked or expired key, and 403 for a scope that the key lacks. It answers
429 with Retry-After if the key has sent too many requests or used too many tokens. Count the tokens of an answer with
``Access.spend``. ``caller.limits.max_tokens`` is the longest answer that the key may request (None: the service's
limit); the route checks it.

If no key is required (``Access(required=False)``, the default on loopback), a request without one belongs to the tenant
of this machine. An unknown token is then ignored, because OpenAI's clients always send one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import anyio
import anyio.to_thread
from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from sqlalchemy.exc import OperationalError

from app.accounts.keys import LOCAL, PREFIX, SCOPES, KeyLimits, KeyStore, Scope
from app.pipeline import Pipeline
from app.service.http.errors import ApiError
from app.service.http.rates import Rates
from app.service.http.shared_rates import open_rates
from data.errors import DataError, StoreBusyError

COOKIE = "plumbline_key"
"""Name of the cookie with the key of the logged-in user: HttpOnly, SameSite=Strict."""
WRONG_KEYS_PER_MINUTE = 20
"""Maximum number of wrong keys per minute from one address, at once or spread over the minute."""
_GOOD_KEPT = 10_000
_THREADS = 8


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. key_id: ID of the API key; None without one. name: name of the key, as logs show it."""

    tenant: str = LOCAL
    scopes: frozenset[Scope] = frozenset(SCOPES)
    limits: KeyLimits = field(default_factory=KeyLimits)
    key_id: str | None = None
    name: str = ""

    def may(self, scope: Scope) -> bool:
        """Return whether the caller has a scope. The scope admin includes all."""
        return scope in self.scopes or "admin" in self.scopes


class Access:
    """The authentication of an app, stored in ``app.state.access``. required: whether every request needs a key."""

    def __init__(self, pipeline: Pipeline, *, required: bool = False, rates: Rates | None = None) -> None:
        self.required = required
        self.rates = rates or open_rates(pipeline)
        self._pipeline = pipeline
        # A separate thread pool: an overloaded service still rejects unauthorised requests at once.
        self._threads: anyio.CapacityLimiter | None = None
        # Digests of tokens that were valid recently. Wrong tokens from the same address do not lock them out.
        self._good: dict[bytes, None] = {}

    async def caller(self, token: str | None, address: str = "") -> Caller:
        """Return the caller that a token identifies. address: address from which the request came.

        Raises ApiError 401 for an invalid token, 429 for a token that was not valid recently from an address with many
        wrong ones, and 503 if the database does not answer.
        """
        if token is None or not (self.required or token.startswith(PREFIX)):
            if self.required:
                raise _unauthorised("an API key is needed: send it as Authorization: Bearer pl-...", "missing_api_key")
            return Caller()
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        bucket = f"wrong keys {address}"
        if digest not in self._good:
            wait = await self._query_rates(self.rates.wait, bucket, WRONG_KEYS_PER_MINUTE)
            if wait:
                raise _too_many("too many wrong API keys came from your address", wait)
        try:
            recognised_caller = await anyio.to_thread.run_sync(self._recognise, token, limiter=self._limiter())
        except ApiError as error:
            if error.status == 401:
                self._good.pop(digest, None)
                self.rates.charge(bucket, WRONG_KEYS_PER_MINUTE, 1)
            raise
        self._good[digest] = None
        while len(self._good) > _GOOD_KEPT:
            del self._good[next(iter(self._good))]
        return recognised_caller

    async def admit(self, caller: Caller) -> None:
        """Count a request.

        Raises ApiError 429 if the caller's request or token limit is reached, and 503 if the database with the counts
        does not answer.
        """
        limits = caller.limits
        if limits.requests_per_minute is not None:
            wait = await self._query_rates(self.rates.take, f"requests {caller.key_id}", limits.requests_per_minute)
            if wait:
                raise _too_many(f"this key may send {limits.requests_per_minute} requests a minute", wait)
        if limits.tokens_per_minute is not None:
            wait = await self._query_rates(self.rates.take, f"tokens {caller.key_id}", limits.tokens_per_minute)
            if wait:
                raise _too_many(f"this key may use {limits.tokens_per_minute} tokens a minute", wait)

    def spend(self, caller: Caller, tokens: int) -> None:
        """Count the tokens of an answer. ``admit`` refuses requests until the caller's token bucket has refilled."""
        if caller.limits.tokens_per_minute is not None:
            self.rates.charge(f"tokens {caller.key_id}", caller.limits.tokens_per_minute, tokens)

    async def _query_rates(self, query: Callable[[str, int], float], bucket: str, per_minute: int) -> float:
        """Return the result of a query to the rate limits, in a thread if they are stored in the database."""
        if not self.rates.blocking:
            return query(bucket, per_minute)

        def run() -> float:
            with _database_problems():
                return query(bucket, per_minute)

        return await anyio.to_thread.run_sync(run, limiter=self._limiter())

    def _limiter(self) -> anyio.CapacityLimiter:
        self._threads = self._threads or anyio.CapacityLimiter(_THREADS)
        return self._threads

    def _recognise(self, token: str) -> Caller:
        with _database_problems():
            key = KeyStore(self._pipeline.store).authenticate(token)
        if key is None:
            raise _unauthorised("this API key is wrong, revoked or expired", "invalid_api_key")
        return Caller(key.tenant, key.scopes, key.limits, key.id, key.name)


@contextmanager
def _database_problems() -> Iterator[None]:
    """Convert errors of the database to ApiError 503."""
    try:
        yield
    except StoreBusyError as error:
        raise ApiError(503, "the database is busy: try again", code="database_busy", retry_after=1) from error
    except (DataError, OperationalError) as error:
        raise ApiError(
            503, "the database is not available: try again", code="database_unavailable", retry_after=30
        ) from error


_BEARER = HTTPBearer(
    auto_error=False, scheme_name="key", description="an API key: plumbline keys create NAME --scopes query"
)


def access_of(request: Request) -> Access:
    """Return the app's Access, which create_app created."""
    access = request.app.state.access
    assert isinstance(access, Access)  # noqa: S101 - create_app puts nothing else there
    return access


def require(*scopes: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return a dependency for routes that need one of these scopes. Without scopes, any authenticated caller is
    accepted.
    """

    async def caller(
        request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
    ) -> Caller:
        return await _admitted(request, scopes, bearer)

    _SCOPES[caller] = scopes
    return caller


_SCOPES: dict[object, tuple[Scope, ...]] = {}
"""The scopes of each dependency that ``require`` returned."""


async def admit_route(request: Request, dependant: Dependant) -> None:
    """Run the checks of a route's ``require`` dependencies before the body is read.

    The dependencies later reuse the authenticated caller and do not count a second request. Raises the ApiErrors of the
    dependencies.
    """
    waiting = [dependant]
    while waiting:
        one = waiting.pop()
        waiting += one.dependencies
        if one.call in _SCOPES:
            await _admitted(request, _SCOPES[one.call], await _BEARER(request))


async def _admitted(request: Request, scopes: tuple[Scope, ...], bearer: HTTPAuthorizationCredentials | None) -> Caller:
    access = access_of(request)
    caller = getattr(request.state, "caller", None)
    known = isinstance(caller, Caller)
    if not isinstance(caller, Caller):
        caller = await access.caller(_token(request, bearer), address_of(request))
    if scopes and not any(caller.may(scope) for scope in scopes):
        raise ApiError(
            403, f"this key lacks permission: it needs the scope {' or '.join(scopes)}", code="insufficient_scope"
        )
    if not known:
        await access.admit(caller)
        request.state.caller = caller
    return caller


def address_of(request: Request) -> str:
    """Return the address from which a request came: the client's, or the one that a trusted proxy reports."""
    return request.client.host if request.client is not None else ""


def _token(request: Request, bearer: HTTPAuthorizationCredentials | None) -> str | None:
    return bearer.credentials if bearer else request.cookies.get(COOKIE)


async def recognised(request: Request) -> Caller | None:
    """Return the caller, for a path that needs no key; None for a request without a valid key if keys are required."""
    bearer = await _BEARER(request)
    try:
        return await access_of(request).caller(_token(request, bearer), address_of(request))
    except ApiError:
        return None


def _unauthorised(message: str, code: str) -> ApiError:
    return ApiError(401, message, code=code)


def _too_many(message: str, wait_s: float) -> ApiError:
    seconds = max(1, math.ceil(wait_s))
    return ApiError(429, f"{message}: try again in {seconds} s", code="rate_limit_exceeded", retry_after=seconds)
