"""Open a checkpoint by path: a Hugging Face folder, or a self-contained GGUF file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model.checkpoints.files import sha256_of
from model.checkpoints.gguf.files import is_gguf, open_gguf
from model.checkpoints.gguf.vocabulary import tokenizer_json, tokenizer_settings
from model.errors import ModelError

if TYPE_CHECKING:  # weights need torch, which a process that only counts tokens does not load
    from model.checkpoints.checkpoint import Checkpoint

TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
# Bytes: several times the largest published tokenizer. A parsed one takes tens of times as much memory.
LONGEST_TOKENIZER = 1 << 27
_LONGEST_SETTINGS = 1 << 24


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a checkpoint folder (``read_checkpoint``) or a GGUF file (``gguf_checkpoint``). Raises ModelError."""
    from model.checkpoints.checkpoint import read_checkpoint
    from model.checkpoints.gguf.checkpoint import gguf_checkpoint

    return gguf_checkpoint(path) if is_gguf(path) else read_checkpoint(path)


def fingerprint(path: Path, weights_sha256: Callable[[Path], str] = sha256_of) -> str:
    """Return a SHA-256 (hex) that identifies a model.

    It covers the names and the SHA-256 of config.json and the weight files, or of the GGUF files. weights_sha256:
    returns the SHA-256 (hex) of a weight file, and may raise ModelError for a file that must not be used.
    """
    from model.checkpoints.checkpoint import CONFIG, read_checkpoint

    weights = open_gguf(path).files if is_gguf(path) else read_checkpoint(path).files
    lines = [] if is_gguf(path) else [f"{sha256_of(path / CONFIG)}  {CONFIG}\n"]
    lines += [f"{weights_sha256(file)}  {file.name}\n" for file in weights]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def tokenizer_file(path: Path) -> str:
    """Return the location of a checkpoint's tokenizer, for messages."""
    return f"{path} (tokenizer.ggml)" if is_gguf(path) else str(path / TOKENIZER)


def tokenizer_text(path: Path) -> str:
    """Return the text of a checkpoint's tokenizer.json. Raises ModelError if it is missing or damaged."""
    return tokenizer_json(open_gguf(path)) if is_gguf(path) else read_tokenizer(path / TOKENIZER)


def read_tokenizer(file: Path) -> str:
    """Read the text of a tokenizer.json. Raises ModelError if it is missing or not text."""
    if not file.is_file():
        raise ModelError(f"{file} is missing: a checkpoint folder needs the fast tokenizer's tokenizer.json")
    if (size := file.stat().st_size) > LONGEST_TOKENIZER:
        raise ModelError(f"{file} is {size:,} bytes long: at most {LONGEST_TOKENIZER:,} are supported")
    try:
        return file.read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise ModelError(f"{file} cannot be read as a tokenizer: {error}") from error


def tokenizer_config(path: Path) -> Mapping[str, object]:
    """Return a checkpoint's tokenizer_config.json; {} if it has none. Raises ModelError if it is not JSON."""
    if is_gguf(path):
        return tokenizer_settings(open_gguf(path))
    file = path / TOKENIZER_CONFIG
    if not file.is_file():
        return {}
    if (size := file.stat().st_size) > _LONGEST_SETTINGS:
        raise ModelError(f"{file} is {size:,} bytes long: at most {_LONGEST_SETTINGS:,} are supported")
    try:
        value = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file} is not valid JSON: {error}") from error
    return value if isinstance(value, dict) else {}
