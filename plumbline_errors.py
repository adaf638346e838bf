"""The error that all of Plumbline's own errors descend from. Every package here may import this file."""

from __future__ import annotations


class PlumblineError(Exception):
    """Something is wrong that a caller can act on; the message names what, where and what to do.

    parameter: the name of the argument that is wrong, as Python callers know it ("collection"), "" where the message is
    about no single one. The command line adds its option, the service its field.
    """

    parameter: str = ""

    def __init__(self, message: str = "", *, parameter: str = "") -> None:
        super().__init__(message)
        if parameter:
            self.parameter = parameter
