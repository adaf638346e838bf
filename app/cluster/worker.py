"""What runs in a worker of the cluster. Imports no Ray, and of Plumbline only what its function needs."""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from plumbline_errors import PlumblineError

PACKAGES = ("plumbline-rag", "torch", "transformers", "tokenizers", "numpy")
"""Packages that decide texts, vectors and verdicts: their versions must be the same everywhere."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a block."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The error that the function raised for a block."""

    error: Exception


class BlockRunner:
    """One worker: opens its function at the first block, and applies it to block after block."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], threads: int) -> None:
        """threads: of the tokenizers; the cluster sets those of torch by the worker's processors."""
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))
        self._make = make
        self._function: Callable[[Any], Any] | None = None

    def ready(self) -> None:
        """Return once this worker has its processors."""

    def run(self, block: Any) -> Done | Failed:
        """Apply the function. An exception is a result too: it is not the worker's death, and is not tried again."""
        try:
            if self._function is None:
                self._function = self._make()
            return Done(self._function(block))
        except Exception as error:  # of any kind: the driver raises it again
            return Failed(portable(error))


def portable(error: Exception) -> Exception:
    """The error if it can be sent as it is, else a RuntimeError with its traceback.

    Not every error of a library can be unpickled, and its type may be unknown where it is read.
    """
    if isinstance(error, PlumblineError | ValueError | TypeError | OSError):
        try:
            if str(pickle.loads(pickle.dumps(error))) == str(error):  # noqa: S301 - what was pickled here
                return error
        except Exception:  # noqa: S110 - an error that cannot be pickled may raise anything; it is sent as text
            pass
    return RuntimeError("in a worker:\n" + "".join(traceback.format_exception(error)))


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node of the cluster runs. token: whether it refuses calls without the cluster's token."""

    python: str
    packages: tuple[tuple[str, str], ...]
    token: bool


def node_facts() -> NodeFacts:
    """The facts of the node that this is called on."""
    token = os.environ.get("RAY_AUTH_MODE") == "token"
    return NodeFacts(platform.python_version(), tuple((name, _version(name)) for name in PACKAGES), token)


def differences(here: NodeFacts, there: NodeFacts) -> tuple[str, ...]:
    """What differs, as ``numpy 2.2.0 (here 2.4.1)``; the build of a package (``+cpu``) does not count."""
    pairs = [("Python", here.python, there.python)]
    pairs += [(name, dict(here.packages)[name], value) for name, value in there.packages]
    return tuple(
        f"{name} {theirs or 'missing'} (here {ours or 'missing'})"
        for name, ours, theirs in pairs
        if ours.partition("+")[0] != theirs.partition("+")[0]
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
