"""Errors of the data package."""

from __future__ import annotations

from plumbline_errors import PlumblineError


class DataError(PlumblineError):
    """Input or stored data is invalid; the message names what, where and what to do."""


class StoreBusyError(DataError):
    """Another process kept the database locked for too long; the same call may succeed later."""


class StoreFullError(DataError):
    """The database's disk is full; the same call may succeed once there is space."""


class SchemaVersionError(DataError):
    """The database was written by another version of Plumbline; the message names both versions."""
