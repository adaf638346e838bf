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

    This is the server's clock, so that all processes compare times of one clock even if those of their machines differ.
    SQLite uses the clock of this machine, on which all processes run.
    """
    if connection.dialect.name == "sqlite":
        return utc_now()
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A timestamp in UTC: timestamptz on PostgreSQL, and ISO 8601 text on SQLite, which has no type for times.

    The text always has six digits of microseconds and +00:00, so that texts sort by time. Raises ValueError (inside
    SQLAlchemy's StatementError) for a time without a time zone.
    """

    impl = String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[str]:
        """Return the type of the column: text on SQLite, a timestamp on PostgreSQL."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        """Return the value in UTC, as text on SQLite."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone: give an aware datetime")
        moment = value.astimezone(UTC)
        return moment.isoformat(timespec="microseconds") if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | str | None, dialect: Dialect) -> datetime | None:
        """Return the stored value as an aware datetime in UTC."""
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment.astimezone(UTC)
