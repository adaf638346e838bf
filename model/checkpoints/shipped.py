"""Where the models lie that the project ships. Without torch: names are looked up before anything is loaded."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def shipped_reader() -> Path:
    """Folder of the reader: generation's default."""
    return _folder("reader")


def shipped_verifier() -> Path:
    """Folder of the verifier: evaluation's default."""
    return _folder("verifier")


def shipped_decoder() -> Path:
    """Folder of the decoder, a small one: what the engine's documentation and tests load."""
    return _folder("decoder")


def _folder(name: str) -> Path:
    return Path(str(resources.files("model"))) / "pretrained" / name
