"""Findings of `plumbline doctor`. Exceptions in a check become findings, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.errors import USER_ERRORS

Status = Literal["ok", "warn", "fail"]
Figure = float | int | bool | str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a check.

    check: name of the check. found: result as text. advice: what to do, None if nothing is needed.
    figures: name -> measured value; times in seconds, speeds in tokens per second.
    """

    check: str
    status: Status
    found: str
    advice: str | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)


def guarded(check: str, advice: str, run_check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield the findings of one check.

    run_check: the check. An exception in it becomes its last finding, so that the other checks still run.
    advice: advice of that finding.
    """
    try:
        yield from run_check()
    except USER_ERRORS as error:
        yield Finding(check, "fail", one_line(error), advice)
    except Exception as error:  # The doctor must report any failure instead of failing itself.
        yield Finding(check, "fail", f"{type(error).__name__}: {one_line(error)}", advice)


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line, cut to 500 characters."""
    return " ".join(str(error).split())[:500]
