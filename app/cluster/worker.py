"""Code that runs in the workers of a cluster. It does not import Ray, and imports little of Plumbline."""

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
"""Packages that determine texts, vectors and verdicts. Their versions must be equal on all nodes."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a block."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The error that the function raised for a block."""

    error: Exception


class BlockRunner:
    """A worker that applies a function to blocks. The function is created at the first block."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], threads: int) -> None:
        """make: creates the function. threads: number of tokenizer threads; Ray sets the number of torch threads."""
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))
        self._make = make
        self._function: Callable[[Any], Any] | None = None

    def ready(self) -> None:
        """Return as soon as this worker has its processors."""

    def run(self, block: Any) -> Done | Failed:
        """Apply the function to a block. An exception is returned as Failed, so that the block is not retried."""
        try:
            if self._function is None:
                self._function = self._make()
            return Done(self._function(block))
        except Exception as error:  # the driver raises it again
            return Failed(portable(error))


def portable(error: Exception) -> Exception:
    """Return an error that can be sent to another process: the error itself or a RuntimeError with its traceback.

    Some errors of libraries cannot be unpickled, or have types that the receiving process does not know.
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
    """The versions on a node of the cluster. token: whether the node refuses calls without the cluster's token."""

    python: str
    packages: tuple[tuple[str, str], ...]
    token: bool


def node_facts() -> NodeFacts:
    """Return the versions on the node that runs this function."""
    token = os.environ.get("RAY_AUTH_MODE") == "token"
    return NodeFacts(platform.python_version(), tuple((name, _version(name)) for name in PACKAGES), token)


def differences(here: NodeFacts, there: NodeFacts) -> tuple[str, ...]:
    """Return the differences, such as ``numpy 2.2.0 (here 2.4.1)``. Local version labels (``+cpu``) are ignored."""
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
