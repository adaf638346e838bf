"""The shipped sample files, which are read once per process for several tests."""

from __future__ import annotations

import bz2
import json
from functools import cache
from pathlib import Path
from typing import Any

from data.ragtruth import RagResponse, load_ragtruth

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


@cache
def sample_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a .jsonl.bz2 file. They are shared and must not be modified."""
    with bz2.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def sample_responses(folder: Path) -> tuple[RagResponse, ...]:
    """Return every response of a folder in RAGTruth's layout, of all splits."""
    return tuple(load_ragtruth(folder, split="all").responses)
