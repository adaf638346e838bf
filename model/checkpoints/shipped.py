"""Paths of the shipped models. Does not import torch: paths are resolved before anything is loaded."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def shipped_reader() -> Path:
    """Folder of the reader, the default for generation."""
    return _folder("reader")


def shipped_verifier() -> Path:
    """Folder of the verifier, the default for evaluation."""
    return _folder("verifier")


def shipped_decoder() -> Path:
    """Folder of the small decoder used in the engine's documentation and tests."""
    return _folder("decoder")


def _folder(name: str) -> Path:
    return Path(str(resources.files("model"))) / "pretrained" / name
