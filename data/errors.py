"""Errors of the data room that a caller can act on."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class DataError(PlumblineError):
    """Something read or stored is wrong; the message names what, where and what to do."""


class StoreBusyError(DataError):
    """Somebody else kept the database locked for too long; the same call may succeed later."""


class StoreFullError(DataError):
    """The database's disk is full; the same call may succeed when there is space."""


class SchemaVersionError(DataError):
    """The database was written by another version of Plumbline; the message names both versions."""
