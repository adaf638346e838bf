"""Column types with the same meaning on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, DateTime, Dialect, String, TypeDecorator, func, select
from sqlalchemy.types import TypeEngine


def utc_now() -> datetime:
    """Return the current time in UTC, with its time zone."""
    return datetime.now(UTC)


def database_now(connection: Connection) -> datetime:
    """Return the current time of the database, in UTC.

    A server's own clock, so that processes on machines whose clocks disagree compare times of one clock. For SQLite the
    clock of this machine, on which all of its processes run.
    """
    if connection.dialect.name == "sqlite":
        return utc_now()
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A timestamp in UTC. PostgreSQL stores timestamptz; SQLite, which has no time type, ISO 8601 text.

    The text always has six digits of microseconds and +00:00, so that texts sort by time. A time without a time zone is
    refused as ambiguous (ValueError inside sqlalchemy's StatementError).
    """

    impl = String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[str]:
        """Text on SQLite, a timestamp elsewhere."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        """Convert to UTC and, on SQLite, to text."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone: give an aware datetime")
        moment = value.astimezone(UTC)
        return moment.isoformat(timespec="microseconds") if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | str | None, dialect: Dialect) -> datetime | None:
        """Convert to an aware datetime in UTC."""
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment.astimezone(UTC)
