"""Write the folder tree in README.md from the tracked files: ``python -m tests.repository_tree``."""

from __future__ import annotations

import subprocess
import textwrap
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- tree: written by `python -m tests.repository_tree` -->\n", "<!-- /tree -->"

# A package imports only packages after it. Folders of the second level are shown as names.
FOLDERS = {
    "plumbline": "the public Python interface",
    "app": "settings, pipeline, commands, jobs, service, pages",
    "evaluation": "claims, verifiers, arms, runs, estimates, reports",
    "generation": "prompts, sampling, batching engine, generators",
    "retrieval": "chunks, search, index jobs",
    "model": "decoders, reader, verifier, training, shipped weights",
    "data": "documents, questions, parsers, SQL store, samples",
    "tests": "mirrors the packages; drill/ has the long trials",
    "benchmarks": "one file a claim about speed or quality",
    "docs": "the pages of the site",
}


def tracked_folders() -> dict[str, list[str]]:
    """Return the second-level folders with tracked files, by top-level folder, without hidden ones."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, set[str]] = defaultdict(set)
    for name in filter(None, listed.split("\0")):
        parts = name.split("/")
        if len(parts) > 1 and not parts[0].startswith("."):
            found[parts[0]].update(parts[1:2] if len(parts) > 2 else ())
    return {top: sorted(below) for top, below in found.items()}


def tree() -> str:
    """Return the block between the markers."""
    lines = []
    folders = tracked_folders()
    for top, meaning in FOLDERS.items():
        names = "" if top == "tests" else " ".join(f"{name}/" for name in folders.get(top, ()))
        text = f"{top + '/':<13}{meaning}" + (f": {names}" if names else "")
        lines += textwrap.wrap(text, 150, subsequent_indent=" " * 13)
    return "```\n" + "\n".join(lines) + "\n```\n"


def written() -> str:
    """Return the text of README.md with the current tree."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + tree() + END + rest.split(END)[1]


if __name__ == "__main__":
    (ROOT / "README.md").write_text(written(), encoding="utf-8")
