"""Rate limits per key in the database, for all processes that share a PostgreSQL server.

These are the token buckets of ``RateLimiter``. A row stores the time at which the bucket is full again, by the server's
clock. A debt of D seconds is a level of per_minute * (1 - D / 60). A bucket whose time has passed is full and needs no
row.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from sqlalchemy import Connection, text

from app.pipeline import Pipeline
from app.service.http.rates import MINUTE_S, RateLimiter, Rates
from app.service.observability.logs import LOGGER
from data.database_url import is_shared
from data.store import Store

_OWE_S = 5.0
_INSERT = (
    "INSERT INTO rate_buckets AS b (name, full_at) VALUES (:name, clock_timestamp() + make_interval(secs => :cost)) "
    "ON CONFLICT (name) DO UPDATE SET full_at = greatest(b.full_at, clock_timestamp()) + make_interval(secs => :cost)"
)
_OWE = text(_INSERT)
_TAKE = text(f"{_INSERT} WHERE b.full_at <= clock_timestamp() + make_interval(secs => :allowed) RETURNING name")
_DEBT = text("SELECT extract(epoch FROM full_at - clock_timestamp()) FROM rate_buckets WHERE name = :name")
# A crash of the server may lose the counts of the last half second, but no request waits for its disk.
_FAST = text("SET LOCAL synchronous_commit TO OFF")


class SharedRateLimiter:
    """Token buckets in the database. Thread-safe. store: returns the open database.

    Its methods raise DataError if the database does not answer, except ``owe``.
    """

    blocking = True

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rates")
        self._pending: Future[None] | None = None
        self._lock = threading.Lock()

    def take(self, name: str, per_minute: int, amount: float = 1.0) -> float:
        """See ``RateLimiter.take``."""
        self._settle()
        second = MINUTE_S / per_minute
        allowed = MINUTE_S - min(amount, float(per_minute)) * second
        with self._store().write(exclusive=False) as connection:
            connection.execute(_FAST)
            values = {"name": name, "cost": amount * second, "allowed": allowed}
            if connection.execute(_TAKE, values).first() is not None:
                return 0.0
            # Never 0, which means that the amount was taken: the bucket may have refilled since the last statement.
            return max(0.001, _debt(connection, name) - allowed)

    def wait(self, name: str, per_minute: int) -> float:
        """See ``RateLimiter.wait``."""
        self._settle()
        with self._store().read() as connection:
            return max(0.0, _debt(connection, name) - MINUTE_S + MINUTE_S / per_minute)

    def charge(self, name: str, per_minute: int, amount: float) -> None:
        """See ``RateLimiter.owe``. Returns at once; errors of the database are logged."""
        with self._lock:
            self._pending = self._thread.submit(self._owe, name, amount * MINUTE_S / per_minute)

    def _owe(self, name: str, cost_s: float) -> None:
        try:
            with self._store().write(exclusive=False) as connection:
                connection.execute(_FAST)
                connection.execute(_OWE, {"name": name, "cost": cost_s})
        except Exception as error:  # the answer was already sent, so the error is only logged
            logging.getLogger(LOGGER).error("used tokens are not counted: %s: %s", type(error).__name__, error)

    def _settle(self) -> None:
        """Wait at most _OWE_S seconds until the amounts that this process owes are counted."""
        with self._lock:
            pending = self._pending
        if pending is not None:
            wait([pending], timeout=_OWE_S)


def open_rates(pipeline: Pipeline) -> Rates:
    """Return the rate limits of a service: in the database if it is a server, else in this process."""
    if is_shared(pipeline.settings.database_url):
        return SharedRateLimiter(lambda: pipeline.store)
    return RateLimiter()


def _debt(connection: Connection, name: str) -> float:
    """Return the seconds until the bucket is full; 0 or less if it is full."""
    seconds = connection.execute(_DEBT, {"name": name}).scalar()
    return float(seconds) if seconds is not None else 0.0
