"""Refused: an item that was not read, and why. It travels among the good ones, so that nothing is lost silently."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Refused:
    """where: the file or folder, with ``:line`` for a line of it. reason: what is wrong and what to do."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


def shown(path: Path) -> str:
    """The path as text that can be printed and stored: bytes of a name that are not UTF-8 become ``\\xNN``."""
    return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))


def printable(name: str) -> str:
    """The name on one line and without power over a terminal: control characters as their escapes (``\\n``)."""
    return _CONTROL.sub(lambda match: repr(match.group())[1:-1], name)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
