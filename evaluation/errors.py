"""Errors of the evaluation package."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from plumbline_errors import PlumblineError

_SHOWN = 12


class EvaluationError(PlumblineError):
    """Raised for an invalid run, question set or estimate input. The message says what is wrong and what to do."""


class BaselineError(EvaluationError):
    """Raised if a baseline is missing, cannot be read or does not fit the run. It must be written again from a run."""

    def __init__(self, message: str) -> None:
        super().__init__(message, parameter="renew")


class ActiveDrawError(EvaluationError):
    """Raised if labels of an active draw are used for an estimate that needs a uniform draw."""

    def __init__(self, message: str) -> None:
        super().__init__(message, parameter="active")


class UnknownRunError(EvaluationError):
    """Raised if a name identifies no run or several runs.

    name: name as given. known: (ID, name) of every run. several: IDs of the runs that match.
    """

    def __init__(self, name: str, known: Sequence[tuple[str, str]], several: Sequence[str] = ()) -> None:
        self.name, self.known, self.several = name, tuple(known), tuple(several)
        shown = [f"{own} ({key})" if own != key else key for key, own in self.known[:_SHOWN]]
        rest = f" and {len(self.known) - _SHOWN} more" if len(self.known) > _SHOWN else ""
        if several:
            ids = ", ".join(self.several)
            super().__init__(f"{name!r} matches several runs: give one of these IDs: {ids}", parameter="run")
            return
        close = get_close_matches(name, [own for _, own in self.known], n=1)
        meant = f"did you mean {close[0]!r}? The" if close else "the"
        listed = f"{meant} known ones are {', '.join(shown)}{rest}" if known else "there are no runs yet"
        super().__init__(f"there is no run {name!r}; {listed}", parameter="run")

    def __reduce__(self) -> tuple[type[UnknownRunError], tuple[object, ...]]:
        return type(self), (self.name, self.known, self.several)
