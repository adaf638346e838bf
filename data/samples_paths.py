"""Paths of the sample corpus and its questions, in any installation."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from data.errors import DataError


def sample_corpus_path() -> Path:
    """Return the folder of sample articles (.md). Raises DataError if it is missing."""
    return _sample("corpus")


def sample_question_paths() -> tuple[Path, ...]:
    """Return the files of sample questions: about the invented company, then about the world.

    Raises DataError if one is missing.
    """
    return (_sample("questions_company.jsonl"), _sample("questions_world.jsonl"))


def _sample(name: str) -> Path:
    path = Path(str(files("data").joinpath("samples", name)))
    if not path.exists():
        raise DataError(f"the sample data {path} is missing from this installation: install Plumbline again")
    return path
