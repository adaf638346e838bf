"""The base class of all of Plumbline's errors. Every package may import this file."""

from __future__ import annotations


class PlumblineError(Exception):
    """An error that a caller can act on. The message names the problem, its location and what to do.

    parameter: the name of the invalid Python argument ("collection"), "" if there is no single one. The command line
    adds its option to the message, the service its field.
    """

    parameter: str = ""

    def __init__(self, message: str = "", *, parameter: str = "") -> None:
        super().__init__(message)
        if parameter:
            self.parameter = parameter
