"""Errors of the data package."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class DataError(PlumblineError):
    """Input or stored data is invalid. The message says what is wrong, where, and what to do."""


class StoreBusyError(DataError):
    """Another process kept the database locked for too long. The same call may succeed later."""


class StoreLockedError(DataError):
    """Another process holds a named lock in the database."""


class StoreUnavailableError(DataError):
    """The database server does not answer. The same call may succeed later."""


class StoreFullError(DataError):
    """The database's disk is full. The same call may succeed when there is space."""


class SchemaVersionError(DataError):
    """The tables have another version. found: version of the database. needed: version that this program needs."""

    def __init__(self, database: str, found: str, needed: str) -> None:
        self.database, self.found, self.needed = database, found, needed
        newer = found.isdecimal() and int(found) > int(needed)
        again = "or move the database away and index again"
        advice = (
            "it was created by a newer version of Plumbline: upgrade Plumbline"
            if newer
            else "there is no migration from it: use the version of Plumbline that created it"
        )
        super().__init__(
            f"the database {database} has schema version {found}, this Plumbline needs version {needed}; "
            f"{advice}, {again}"
        )

    def __reduce__(self) -> tuple[type[SchemaVersionError], tuple[str, str, str]]:
        return type(self), (self.database, self.found, self.needed)
