"""Generate the reference of the command line from the argparse parsers: one page per command, and an index."""

from __future__ import annotations

import argparse
import re

from markdown_text import code, linked, paragraphs, table

from app.cli import build_parser

_UP = "../../"


def cli_pages() -> dict[str, str]:
    """Return the Markdown of each page by its name."""
    parser = build_parser()
    commands = _subparsers(parser)
    if commands is None:
        raise RuntimeError("plumbline's parser has no commands")
    summaries = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    rows = [(f"[`{name}`](cli/{name}.md)", linked(summaries[name], "../")) for name in commands.choices]
    index = ["# Command line", "", "`plumbline COMMAND [OPTIONS]`. Every command has `--help`.", ""]
    index += [table(("command", "what it does"), rows), "```", parser.epilog or "", "```", ""]
    pages = {"reference/cli.md": "\n".join(index)}
    for name, sub in commands.choices.items():
        pages[f"reference/cli/{name}.md"] = "\n".join(_command(sub, 1))
    return pages


def _command(parser: argparse.ArgumentParser, level: int) -> list[str]:
    lines = [f"{'#' * level} {parser.prog}", "", paragraphs(parser.description or "", _UP)]
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.help is not argparse.SUPPRESS
            and action.dest not in ("help", argparse.SUPPRESS)
            and not isinstance(action, argparse._SubParsersAction)
        ]
        if not actions:
            continue
        lines += [f"{'#' * (level + 1)} {_title(group.title)}", ""]
        lines += [table(("option", "meaning"), (_row(parser, action) for action in actions))]
    nested = _subparsers(parser)
    for sub in nested.choices.values() if nested is not None else ():
        lines += _command(sub, level + 1)
    return lines


def _title(title: str | None) -> str:
    """Return a group's title without the remarks after it."""
    return re.split(r"[,(:]", title or "options")[0].strip().capitalize()


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str]:
    formatter = parser._get_formatter()
    value = formatter._format_args(action, formatter._get_default_metavar_for_optional(action))
    if not action.option_strings:
        value = formatter._format_args(action, formatter._get_default_metavar_for_positional(action))
        return code(value), linked(formatter._expand_help(action) if action.help else "", _UP)
    names = ", ".join(action.option_strings)
    return code(f"{names} {value}".strip()), linked(formatter._expand_help(action) if action.help else "", _UP)


def _subparsers(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser] | None:
    return next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)
