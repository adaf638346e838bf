"""Files for the document loader, and its results by kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from data.documents import Document
from data.refused import Refused


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def good(items: Iterable[Document | Refused]) -> list[Document]:
    return [item for item in items if isinstance(item, Document)]


def refused(items: Iterable[Document | Refused]) -> dict[str, str]:
    return {item.where: item.reason for item in items if isinstance(item, Refused)}


def ids(items: Iterable[Document | Refused]) -> list[str]:
    return [document.id for document in good(items)]
