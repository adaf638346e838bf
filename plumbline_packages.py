"""Makes sure that Plumbline imports its own top-level packages, whatever files are beside the caller's script.

They have common names (``app``, ``data``, ``model``, ...), and a script's folder comes first on ``sys.path``. Importing
this module installs a finder that resolves these names to Plumbline's folder. Import it before any of them.
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
"""The folder that contains them."""


class OwnPackages(MetaPathFinder):
    """Finds the packages of NAMES in HOME and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package's spec, None for any other name."""
        return PathFinder.find_spec(fullname, [str(HOME)], target) if fullname in NAMES and path is None else None


def check_loaded() -> None:
    """Raise ImportError with both locations if one of the names was already imported from elsewhere."""
    for name in NAMES:
        module = sys.modules.get(name)
        path = None if module is None else _location(module)
        if path is not None and not _is_own(path):
            raise ImportError(
                f"there are two packages named {name!r}: this process has imported {path}, but "
                f"Plumbline needs its own {HOME / name}. Rename yours, or run Plumbline in "
                "another process (plumbline serve, or the command line)",
                name=name,
                path=str(path),
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
            # Python treats a folder without __init__.py as a namespace package, but usually it just holds files.
            if (
                spec is not None
                and spec.origin is not None
                and not _is_own(Path(spec.origin))
                and spec.origin != _absolute(script)
            ):
                found.append((name, Path(spec.origin)))
    return tuple(found)


def _location(module: ModuleType) -> Path | None:
    if getattr(module, "__file__", None):
        return Path(str(module.__file__))
    folders = list(getattr(module, "__path__", ()))
    return Path(folders[0]) if folders else None


def _is_own(path: Path) -> bool:
    return path.resolve().is_relative_to(HOME)


def _absolute(script: str | None) -> str | None:
    """Absolute path of the running script. Nobody imports it: "python app.py" hides nothing."""
    return None if script is None else str(Path(script).absolute())


def _is_home(entry: str) -> bool:
    return Path(entry or ".").resolve() == HOME


def warn_of_hidden_modules() -> None:
    """Issue a RuntimeWarning for each of ``hidden_modules``, to the caller of an import."""
    for name, path in hidden_modules():
        warnings.warn(
            f"{path} cannot be imported as {name!r} in this process: Plumbline has a package of that name. Rename "
            "the file to import both",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def own_packages_first() -> Iterator[None]:
    """Put HOME first on ``sys.path`` while a process is spawned: it inherits the path, but not the finders."""
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
