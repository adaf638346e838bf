"""Render small HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(caption: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return the HTML of a table with a caption and a header row. All text is escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shortened(text: str, width: int = 60) -> str:
    """Return the text on one line, truncated to ``width`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
