"""The argument parser of all commands, with short and full help, suggestions for misspelt names, renamed options."""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from app.errors import EXIT_USAGE
from data.blank import is_blank

_MOST_COLUMNS = 100
"""Longest line of a help page, in characters, on terminals that are wider."""

_EARLY = "before the action: "
"""Prefix of attribute names for options that precede the name of a nested command, until that command is known."""

Declare = Callable[[argparse.ArgumentParser], None]


class _Formatter(argparse.HelpFormatter):
    """Formats help pages: wraps descriptions by paragraph, and never breaks a line inside an option or a name."""

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size().columns - 2, _MOST_COLUMNS)
        super().__init__(prog, max_help_position=26, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.replace("``", "`").strip())
        return "\n\n".join("\n".join(f"{indent}{line}" for line in self._wrapped(p, width)) for p in paragraphs)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return self._wrapped(text, width)

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        short = {int: "N", float: "X"}.get(action.type)  # type: ignore[call-overload]
        return short or super()._get_default_metavar_for_optional(action)

    @staticmethod
    def _wrapped(text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that hides rare options from ``--help`` and suggests names for misspelt ones.

    ``--help-all`` lists all options. A negative number is parsed as a value, so that "--temperature -1" is an invalid
    temperature instead of an unknown option.
    """

    def __init__(self, *, add_help: bool = True, **options: Any) -> None:
        super().__init__(add_help=False, **options)
        if add_help:
            self.add_argument("-h", "--help", action="help", help="show this help and exit")
            self.add_argument("--help-all", action=_HelpAll, help="show this help with rarely used options and exit")

    def format_help(self) -> str:
        """Return the help without rare options."""
        return self._help(every=False)

    def format_full_help(self) -> str:
        """Return the help with every option."""
        return self._help(every=True)

    def _help(self, *, every: bool) -> str:
        rare = [action for action in self._actions if _is_rare(action)]
        hidden = {} if every else {action: action.help for action in rare}
        for action in self._actions:
            if isinstance(action, _HelpAll) and (every or not rare):
                hidden[action] = action.help
        for action in hidden:
            action.help = argparse.SUPPRESS
        self.usage = self.usage or self._short_usage()
        try:
            return super().format_help()
        finally:
            for action, text in hidden.items():
                action.help = text

    def _get_formatter(self) -> argparse.HelpFormatter:
        return _Formatter(self.prog)

    def _short_usage(self) -> str:
        """Return the usage line: the command, "[options]" and the required arguments."""
        needed = [a for a in self._actions if not a.option_strings or a.required]
        plain = argparse.HelpFormatter(prog="")
        plain.add_usage(None, needed, [], prefix="")
        operands = " ".join(plain.format_help().split()).replace("%", "%%")
        return f"%(prog)s [options] {operands}".rstrip()

    def parse_known_args(  # type: ignore[override]  # one signature in place of argparse's overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse arguments. Raises SystemExit, with a suggestion, for an unknown option or operand."""
        given = list(sys.argv[1:] if args is None else args)
        if self._subparsers is None:
            self._refuse_unknown(given)
        parsed, extras = super().parse_known_args(given, namespace)
        if extras and self._subparsers is None:
            self.error(f"unexpected {' '.join(map(repr, extras))}: a text with spaces needs quotes")
        for name in [name for name in vars(parsed) if name.startswith(_EARLY)]:
            setattr(parsed, name.removeprefix(_EARLY), getattr(parsed, name))
            delattr(parsed, name)
        return parsed, extras

    def _refuse_unknown(self, given: Sequence[str]) -> None:
        """Report an unknown option before missing arguments, because a missing argument may be a misspelt option."""
        known = list(self._option_string_actions)
        shown = [o for o, a in self._option_string_actions.items() if a.help != argparse.SUPPRESS]
        for word in given:
            name = word.partition("=")[0]
            if word == "--":
                return
            if name.startswith("--") and " " not in name and not any(option.startswith(name) for option in known):
                self.error(f"there is no option {name}{did_you_mean(name, shown)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        known = f"choose from {', '.join(choices)}"
        close = did_you_mean(str(value), choices)
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command {str(value)!r}{close or f': {known}'}")
        raise argparse.ArgumentError(action, f"there is no {str(value)!r}{close} ({known})")

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 and a message on stderr."""
        self.exit(EXIT_USAGE, f"plumbline: {message}\nTry '{self.prog} --help'.\n")


class _HelpAll(argparse.Action):
    """An option that prints the full help and exits."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:  # noqa: A002 - argparse passes it by this name
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        sys.stdout.write(parser.format_full_help() if isinstance(parser, Parser) else parser.format_help())
        parser.exit()


class _EarlyOption(argparse.Action):
    """An option of a nested command that is also accepted before the command's name. of: the original option."""

    def __init__(self, of: argparse.Action) -> None:
        super().__init__(
            of.option_strings,
            of.dest,
            nargs=of.nargs,
            default=of.default,
            type=of.type,  # type: ignore[arg-type]  # Names of registered types (str) are not used here.
            choices=of.choices,
            help=argparse.SUPPRESS,
        )
        self._of = of

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        early = _EARLY + self.dest
        target = argparse.Namespace(**{self.dest: getattr(namespace, early, self.default)})
        self._of(parser, target, values, option)
        setattr(namespace, early, getattr(target, self.dest))


class _Renamed(argparse.Action):
    """The former name of an option. It works like the new name and prints a deprecation warning on stderr."""

    def __init__(self, option_strings: Sequence[str], dest: str, to: argparse.Action) -> None:
        super().__init__(
            option_strings,
            to.dest,
            nargs=to.nargs,
            type=to.type,  # type: ignore[arg-type]  # as above
            choices=to.choices,
            default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )
        self._to = to

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        new = self._to.option_strings[-1]
        sys.stderr.write(f"plumbline: {option} is deprecated: use {new}. The next version removes it.\n")
        self._to(parser, namespace, values, new)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'NAME'?" with the closest known name, or "" if none is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def rare(parser: argparse._ActionsContainer, *flags: str) -> None:
    """Show options only in ``--help-all``. Raises ValueError for an option that the parser does not have."""
    for flag in flags:
        action = parser._option_string_actions.get(flag)
        if action is None:
            raise ValueError(f"there is no option {flag} to leave to --help-all")
        setattr(action, "rare", True)  # noqa: B010 - argparse's actions have no such field


def _is_rare(action: argparse.Action) -> bool:
    return bool(getattr(action, "rare", False)) and action.help != argparse.SUPPRESS


def renamed(container: argparse._ActionsContainer, old: str, to: argparse.Action) -> None:
    """Keep ``old`` as a hidden alias of the option ``to`` for one version, with a deprecation warning on stderr."""
    container.add_argument(old, action=_Renamed, to=to)


def add_common(parser: argparse.ArgumentParser, *, nested: bool = False, home: str = "~/.plumbline") -> None:
    """Declare --home and --json, which every command has.

    nested: for a nested command, whose parent has them too. home: default of --home, for its help.
    """
    default: dict[str, Any] = {"default": argparse.SUPPRESS} if nested else {}
    parser.add_argument(
        "--home",
        type=folder,
        **({"default": None} | default),
        help=f"data directory, with the database and the indexes (PLUMBLINE_HOME, default {home})",
    )
    parser.add_argument("--json", action="store_true", **default, help="print one JSON document on stdout")


def add_nested(
    parser: argparse.ArgumentParser,
    dest: str,
    actions: Iterable[tuple[str, str, Declare]],
    *,
    default: str | None = None,
    metavar: str = "ACTION",
) -> None:
    """Declare nested commands, each (name, help text, function that declares its arguments).

    dest: attribute that gets the name. default: nested command if none is named. The options of nested commands are
    also accepted before the name.
    """
    subparsers = parser.add_subparsers(dest=dest, metavar=metavar, required=default is None)
    subparsers.help = f"default {default}" if default else None
    own_options = set(parser._option_string_actions)
    for name, text, declare in actions:
        lines = text.strip().splitlines()
        sub = subparsers.add_parser(name, help=lines[0], description=text.strip())
        add_common(sub, nested=True)
        declare(sub)
        for action in sub._actions:
            if not action.option_strings or own_options.intersection(action.option_strings):
                continue
            if not set(action.option_strings) & set(parser._option_string_actions):
                parser._add_action(_EarlyOption(action))
    if default is not None:
        parser.set_defaults(**{dest: default})


def options_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> frozenset[str]:
    """Return the options of the (possibly nested) command that was parsed into ``arguments``."""
    while nested := next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None):
        chosen = nested.choices.get(getattr(arguments, nested.dest, None) or "")
        if chosen is None:
            break
        parser = chosen
    return frozenset(parser._option_string_actions)


def folder(text: str) -> Path:
    """Parse the path of a folder. Rejects an empty path, which would mean the current folder."""
    if is_blank(text):
        raise argparse.ArgumentTypeError("the path is empty: name a folder, or omit the option")
    return Path(text)
