"""Read the Dockerfile and compose.yaml."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


@cache
def services() -> dict[str, Any]:
    """Return the services of compose.yaml, with anchors resolved."""
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())["services"])


def substituted(value: str, **given: str) -> str:
    """Resolve ``${NAME:-default}`` and ``${NAME:?message}`` as docker compose does. Raises KeyError if missing."""

    def one(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        return given[name] if name in given or kind == "?" else rest

    return re.sub(r"\$\{(\w+):([-?])([^}]*)\}", one, value)


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, with continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.strip().partition(" ") for line in lines)]


def image_environment() -> dict[str, str]:
    """Return the environment that the last stage of the image sets."""
    given = [rest for word, rest in instructions() if word == "ENV"][-1]
    return dict(part.split("=", 1) for part in given.split())


def build_context() -> list[str]:
    """Return the tracked files that .dockerignore does not exclude from the build."""
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    return [name for name in names if name.split("/")[0] in allowed]
