"""Findings of `plumbline doctor`, and checks whose exceptions become findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.errors import USER_ERRORS

Status = Literal["ok", "warn", "fail"]
Figure = float | int | bool | str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. check: name of the check. found: the result. advice: what to do, None if nothing is needed.

    figures: what was measured, by name; seconds and tokens per second.
    """

    check: str
    status: Status
    found: str
    advice: str | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)


def guarded(check: str, advice: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of one check. An exception becomes its last finding, so that one broken part does not hide
    others.
    """
    try:
        yield from look()
    except USER_ERRORS as error:
        yield Finding(check, "fail", one_line(error), advice)
    except Exception as error:  # the doctor must report any failure instead of failing itself
        yield Finding(check, "fail", f"{type(error).__name__}: {one_line(error)}", advice)


def one_line(error: BaseException) -> str:
    """The message of an error on one line, cut to 500 characters."""
    return " ".join(str(error).split())[:500]
