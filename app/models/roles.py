"""Determine whether a model is a verifier or a reader from its name and files, without loading weights."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal

from app.errors import AppError
from app.models.shipped_decoder import decoder_folder
from model.pairs.presets import read_preset

Role = Literal["verifier", "reader"]
_NAMES = (
    "verifier, reader and decoder (the shipped ones), verifier-network (the verifier without the reader for "
    "short answers), token-overlap and minilm-cosine (baselines), a folder written by plumbline train, a "
    "Hugging Face folder (sequence classifier or decoder), or OWNER/NAME of a sequence classifier, "
    "optionally prefixed by nli:, hhem:, minicheck: or alignscore:"
)
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")


def model_role(name: str) -> Role:
    """Return the role of the model with this name or folder. Raises AppError that lists valid names."""
    if name in ("verifier", "verifier-network", "token-overlap", "minilm-cosine"):
        return "verifier"
    if name == "reader":
        return "reader"
    if read_preset(name).preset is not None:
        return "verifier"
    folder = decoder_folder(name)
    if not folder.is_dir():
        if _HUB_NAME.fullmatch(name):
            return "verifier"
        raise AppError(f"{name!r} is not a model or a folder; choose from {_NAMES}")
    if (folder / "verifier.json").is_file():
        return "verifier"
    if (folder / "reader.json").is_file():
        return "reader"
    return _checkpoint_role(folder)


def _checkpoint_role(folder: Path) -> Role:
    config = folder / "config.json"
    if not config.is_file():
        raise AppError(f"{folder} holds no verifier.json, reader.json or config.json; choose from {_NAMES}")
    try:
        value = json.loads(config.read_text("utf-8"))
        names = [str(name) for name in value.get("architectures") or ()]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise AppError(f"{config} is damaged ({error}): fetch the checkpoint again") from error
    if any(name.endswith("ForSequenceClassification") for name in names):
        return "verifier"
    if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names):
        return "reader"
    raise AppError(
        f"{folder} is a {', '.join(names) or 'checkpoint without a named architecture'}: neither a sequence "
        "classifier (a verifier) nor a decoder (a reader)"
    )
