"""Errors of the data room that a caller can act on."""


class DataError(Exception):
    """Something read or stored is wrong; the message names what, where and what to do."""
