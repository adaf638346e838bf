"""Read the settings of a command from a YAML file. Names are those of the flags, and the same parser checks them."""

from __future__ import annotations

import argparse
import difflib
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from app.errors import UsageError

SUFFIXES = (".yaml", ".yml")
_NOT_SETTINGS = frozenset({"run", "command", "argv", "reparse", "help", "json", "dry_run"})


def is_config(name: str) -> bool:
    """Return whether a positional argument names a settings file."""
    return name.lower().endswith(SUFFIXES)


def with_config(arguments: argparse.Namespace, positional: str) -> argparse.Namespace:
    """Merge the settings file among ``arguments.<positional>`` into the arguments; given flags override it.

    arguments: must have ``argv``, the command line without the command's name, and ``reparse``, the parse function of
    the command. positional: name of the argument among whose values the file is. Paths in the file are relative to the
    current folder, as on the command line. Raises UsageError for a file that cannot be read, is not a mapping, or has
    a key that is not a flag.
    """
    values: list[str] = getattr(arguments, positional)
    files = [name for name in values if is_config(name)]
    if len(files) > 1:
        raise UsageError(f"{' and '.join(files)}: give only one settings file")
    path = Path(files[0])
    argv = [word for word in arguments.argv if word != files[0]]
    # The parser fills only missing attributes, so an attribute that is None afterwards was not given.
    names = {name for name in vars(arguments) if name not in _NOT_SETTINGS}
    bare = argparse.Namespace(**dict.fromkeys(vars(arguments)))
    given = vars(arguments.reparse(list(arguments.argv), bare))
    settings = {key: value for key, value in _settings(path, names).items() if value is not None}
    others = [name for name in values if name != files[0]]
    applied = {k: v for k, v in settings.items() if k != positional and given.get(k) is None}
    words = [word for key, value in applied.items() for word in _words(path, key, value, arguments)]
    if not others:
        words += _listed(path, positional, settings.get(positional))
    start = argparse.Namespace(argv=arguments.argv, command=arguments.command)
    reparsed: argparse.Namespace = arguments.reparse([*words, *argv], start)
    return reparsed


def _settings(path: Path, names: set[str]) -> Mapping[str, Any]:
    """Return the file's mapping, with underscores in place of dashes in its keys."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # not UTF-8, an invalid date, too deep nesting
        raise UsageError(f"{path} is not YAML: {' '.join(str(error).split())[:500]}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} must contain settings, one NAME: VALUE per line, not {type(value).__name__}")
    settings: dict[str, Any] = {}
    for key, setting in value.items():
        name = str(key).replace("-", "_")
        if name not in names:
            close = difflib.get_close_matches(name, sorted(names), n=1)
            suggestion = f"; did you mean {close[0].replace('_', '-')}?" if close else ""
            known = ", ".join(sorted(n.replace("_", "-") for n in names))
            raise UsageError(f"{path}: there is no setting {key!r}{suggestion or f'; choose from {known}'}")
        if name in settings:
            raise UsageError(f"{path}: {key!r} is set twice")
        settings[name] = setting
    return settings


def _words(path: Path, key: str, value: Any, arguments: argparse.Namespace) -> list[str]:
    """Return a setting as command-line words."""
    flag = "--" + key.replace("_", "-")
    if value is True:
        return [flag]
    if value is False:
        return []
    if isinstance(value, list) and isinstance(getattr(arguments, key), list):  # a repeatable flag
        return [f"{flag}={item}" for item in _listed(path, key, value)]
    if isinstance(value, list):
        return [f"{flag}={','.join(_listed(path, key, value))}"]
    return [f"{flag}={_plain(path, key, value)}"]


def _listed(path: Path, key: str, value: Any) -> list[str]:
    items: Sequence[Any] = value if isinstance(value, list) else [] if value is None else [value]
    return [_plain(path, key, item) for item in items]


def _plain(path: Path, key: str, value: Any) -> str:
    if isinstance(value, (dict, list, bool)) or value is None:
        # Shortened: YAML lists may contain themselves, or expand to billions of items.
        shown = reprlib.repr(value)
        raise UsageError(f"{path}: {key.replace('_', '-')} is {shown}: it must be a number, a text or a list of these")
    return str(value)
