"""Paths of the models that ship with Plumbline. Does not import torch."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def shipped_reader() -> Path:
    """Return the folder of the reader, the default generator."""
    return _folder("reader")


def shipped_verifier() -> Path:
    """Return the folder of the verifier, the default for evaluation."""
    return _folder("verifier")


def shipped_decoder() -> Path:
    """Return the folder of the small decoder that the engine's documentation and tests use."""
    return _folder("decoder")


def _folder(name: str) -> Path:
    return Path(str(resources.files("model"))) / "pretrained" / name
