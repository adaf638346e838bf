"""The reference pages that the documentation site generates from the code."""

from __future__ import annotations

import argparse
import importlib
import re
from types import ModuleType

import pytest

from app.cli import COMMANDS, build_parser
from tests.repository_tree import ROOT


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The modules of docs/hooks that need nothing of mkdocs."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "hooks")
    return {name: importlib.import_module(name) for name in ("markdown_text", "cli_pages")}


def options(parser: argparse.ArgumentParser) -> set[str]:
    """Every shown option of a parser and of the parsers below it."""
    found: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found |= options(below)
        elif action.help != argparse.SUPPRESS and action.dest not in ("help", argparse.SUPPRESS):
            found.update(action.option_strings)
    return found


def test_every_command_and_option_is_in_the_reference(hooks: dict[str, ModuleType]) -> None:
    pages = hooks["cli_pages"].cli_pages()
    for name in COMMANDS:
        page = pages[f"reference/cli/{name}.md"]
        (sub,) = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
        shown = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", page))
        assert options(sub.choices[name]) <= shown, name
        assert f"(cli/{name}.md)" in pages["reference/cli.md"]


def test_text_from_the_code_is_shown_as_it_stands(hooks: dict[str, ModuleType]) -> None:
    text = hooks["markdown_text"]
    assert text.escaped("a <b> of *_c_* | `d_e*`") == r"a \<b\> of \*\_c\_\* \| `d_e*`"
    assert text.linked("see docs/collections_and_jobs.md", "../") == (
        "see [collections and jobs](../collections_and_jobs.md)"
    )
    assert text.table(("a", "b"), [("1", "2\n3")]) == "| a | b |\n|---|---|\n| 1 | 2 3 |\n"
