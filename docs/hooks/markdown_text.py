"""Convert text from the code to Markdown that shows it literally."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """Return ``text`` with the markup characters of Markdown and HTML escaped. Code in backquotes is unchanged."""
    parts = re.split(r"(``?[^`]+``?)", text)
    return "".join(
        "`" + part.strip("`") + "`" if part.startswith("`") else re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part)
        for part in parts
        if part
    )


def linked(text: str, up: str) -> str:
    """Return ``text`` escaped, with each ``docs/PAGE.md`` as a link to that page. up: relative path to the root."""
    return re.sub(r"docs/((?:\w|\\_|/)+)\.md", lambda found: _link(found[1].replace("\\", ""), up), escaped(text))


def _link(page: str, up: str) -> str:
    return f"[{page.rsplit('/', 1)[-1].replace('_', ' ')}]({up}{page}.md)"


def code(text: str) -> str:
    """Return ``text`` as code that is also valid inside a table."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown; empty without rows."""
    lines = ["| " + " | ".join(" ".join(cell.split()) for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *lines]) + "\n"


def paragraphs(text: str, up: str) -> str:
    """Return the Markdown of a docstring: its paragraphs, with indented blocks as code. up: as in ``linked``."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        indented = all(line.startswith("  ") for line in block.splitlines()[1:]) and block.startswith("  ")
        blocks.append(f"```\n{block}\n```" if indented else linked(" ".join(block.split()), up))
    return "\n\n".join(blocks) + "\n"
