"""Text that comes from the code, as Markdown that shows it as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """``text`` with the characters that Markdown and HTML read as markup made plain. Code in backquotes stays."""
    parts = re.split(r"(``?[^`]+``?)", text)
    return "".join(
        "`" + part.strip("`") + "`" if part.startswith("`") else re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part)
        for part in parts
        if part
    )


def linked(text: str, up: str) -> str:
    """``text`` escaped, with every ``docs/PAGE.md`` a link to that page of the site; up: the way to its root."""
    return re.sub(r"docs/((?:\w|\\_|/)+)\.md", lambda found: _link(found[1].replace("\\", ""), up), escaped(text))


def _link(page: str, up: str) -> str:
    return f"[{page.rsplit('/', 1)[-1].replace('_', ' ')}]({up}{page}.md)"


def code(text: str) -> str:
    """``text`` as code, also inside a table."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already. Empty without rows."""
    lines = ["| " + " | ".join(" ".join(cell.split()) for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *lines]) + "\n"


def paragraphs(text: str, up: str) -> str:
    """A docstring: paragraphs stay paragraphs, and indented blocks become code. up: as in ``linked``."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        indented = all(line.startswith("  ") for line in block.splitlines()[1:]) and block.startswith("  ")
        blocks.append(f"```\n{block}\n```" if indented else linked(" ".join(block.split()), up))
    return "\n\n".join(blocks) + "\n"
