"""The documents say what is there: links lead somewhere, commands parse, the tree and the settings are complete."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

import plumbline
from app.cli import build_parser
from app.settings import Settings
from tests.repository_tree import FOLDERS, ROOT, tracked_folders, written

# Pages of the site that are generated when it is built (docs/hooks).
GENERATED = re.compile(r"docs/reference/(cli|cli/\w+|http)\.md")


@cache
def pages() -> dict[str, str]:
    """The tracked Markdown pages for people, by path."""
    names = [":(glob)*.md", "docs/*.md", ".github/*.md", "*DATACARD.md", "*MODEL_CARD.md"]
    listed = subprocess.run(["git", "ls-files", "-z", *names], cwd=ROOT, check=True, capture_output=True, text=True)
    found = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in found}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken_links(name: str, text: str) -> list[str]:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        aim = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        relative = str(aim.relative_to(ROOT))
        if GENERATED.fullmatch(relative):
            continue
        if not aim.exists() or (anchor and anchor not in anchors(aim.read_text(encoding="utf-8"))):
            broken.append(target)
    return broken


def test_links_lead_somewhere() -> None:
    broken = {name: links for name, text in pages().items() if (links := broken_links(name, text))}
    assert broken == {}


def test_a_broken_link_is_found() -> None:
    text = "# A\n\n[page](docs/no_such_page.md) [heading](#none) [good](#a) [code](README.md)\n"
    assert broken_links("README.md", text) == ["docs/no_such_page.md", "#none", "#a"]


def commands(text: str) -> list[str]:
    """The plumbline commands of the shell blocks of ``text``, up to a pipe, a redirection or another command."""
    shell = [block for language in ("", "sh", "bash") for block in blocks(text, language)]
    lines = [line for block in shell for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    end = re.compile(r" (?:\|\|?|&&) | 2?> (?=[a-z])")
    return [end.split(line)[0] for line in lines if line.startswith("plumbline ") and "..." not in line]


@pytest.mark.parametrize("name", sorted(pages()))
def test_commands_parse(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = build_parser()
    refused = []
    for command in commands(pages()[name]):
        try:
            parser.parse_args(shlex.split(re.sub(r"\s*\[--?\w[^\]]*\]", "", command), comments=True)[1:])
        except SystemExit:
            refused.append((command, capsys.readouterr().err))
    assert refused == []


def test_the_commands_of_the_readme_are_found() -> None:
    assert {line.split()[1] for line in commands(pages()["README.md"])} == {
        "index",
        "query",
        "evaluate",
        "score",
        "serve",
    }


@pytest.mark.parametrize("name", sorted(name for name, text in pages().items() if "import plumbline" in text))
def test_python_uses_public_names(name: str) -> None:
    code = [block for block in blocks(pages()[name], "python") if "import plumbline" in block]
    used = {
        node.attr
        for block in code
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "plumbline"
    }
    assert used <= set(plumbline.__all__)


def test_the_readme_is_short_and_its_tree_is_that_of_git() -> None:
    text = pages()["README.md"]
    assert len(text.splitlines()) <= 110
    assert text == written(), "run `python -m tests.repository_tree`"
    assert set(FOLDERS) == set(tracked_folders())


def test_every_setting_is_in_the_table() -> None:
    listed = re.findall(r"^\| `PLUMBLINE_(\w+)` \|", pages()["docs/configuration.md"], re.MULTILINE)
    assert sorted(listed) == sorted(field.upper() for field in Settings.model_fields)


def test_every_decision_has_its_parts() -> None:
    records = {name: text for name, text in pages().items() if re.fullmatch(r"docs/decisions/\d{4}-.*\.md", name)}
    index = pages()["docs/decisions/index.md"]
    assert records
    for name, text in records.items():
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], name
        assert f"({Path(name).name})" in index
