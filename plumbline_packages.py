"""Makes sure that the top-level packages which Plumbline imports are its own, whatever lies beside the caller's script.

They have plain names (``app``, ``data``, ``model``, ...), and a script's folder comes first on ``sys.path``. Importing
this file puts a finder in front that knows them by their place. It must be imported before them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAMES = ("app", "data", "evaluation", "generation", "model", "retrieval")
"""The packages of this distribution."""

HOME = Path(__file__).resolve().parent
"""The folder that holds them."""


class OwnPackages(MetaPathFinder):
    """Finds the packages of NAMES in HOME and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package's spec, None for any other name."""
        return PathFinder.find_spec(fullname, [str(HOME)], target) if fullname in NAMES and path is None else None


def check_loaded() -> None:
    """Raises ImportError, naming both places, where one of the names was imported from elsewhere before."""
    for name in NAMES:
        module = sys.modules.get(name)
        place = None if module is None else _place(module)
        if place is not None and not _is_own(place):
            raise ImportError(
                f"two things are called {name!r}: this process has imported {place}, and Plumbline needs its own "
                f"package {HOME / name}. Rename yours, or run Plumbline in another process (plumbline serve, or the "
                "command line)",
                name=name,
                path=str(place),
            )


def hidden_modules() -> tuple[tuple[str, Path], ...]:
    """(name, file) of the caller's own modules that ``import NAME`` no longer reaches in this process."""
    found = []
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    for entry in sys.path:
        if _is_home(entry):
            break
        for name in NAMES:
            spec = PathFinder.find_spec(name, [entry])
            # A folder without __init__.py is a namespace package to Python, and mostly just a folder of files.
            if (
                spec is not None
                and spec.origin is not None
                and not _is_own(Path(spec.origin))
                and spec.origin != _absolute(script)
            ):
                found.append((name, Path(spec.origin)))
    return tuple(found)


def _place(module: ModuleType) -> Path | None:
    if getattr(module, "__file__", None):
        return Path(str(module.__file__))
    folders = list(getattr(module, "__path__", ()))
    return Path(folders[0]) if folders else None


def _is_own(place: Path) -> bool:
    return place.resolve().is_relative_to(HOME)


def _absolute(script: str | None) -> str | None:
    """The running script, which nobody imports: "python app.py" hides nothing."""
    return None if script is None else str(Path(script).absolute())


def _is_home(entry: str) -> bool:
    return Path(entry or ".").resolve() == HOME


def warn_of_hidden_modules() -> None:
    """A RuntimeWarning for each of ``hidden_modules``, to the caller of an import."""
    for name, place in hidden_modules():
        warnings.warn(
            f"{place} cannot be imported as {name!r} in this process: Plumbline has a package of that name. Rename "
            "the file to import both",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def own_packages_first() -> Iterator[None]:
    """HOME at the front of ``sys.path`` while a process is started, where the caller's modules would hide ours in it:
    a spawned process takes over the path, but no finders."""
    if not hidden_modules():
        yield
        return
    sys.path.insert(0, str(HOME))
    try:
        yield
    finally:
        sys.path.remove(str(HOME))


check_loaded()
if not any(isinstance(finder, OwnPackages) for finder in sys.meta_path):
    sys.meta_path.insert(0, OwnPackages())
