"""End-of-sequence tokens from generation_config.json, config.json and the tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from model.checkpoints.checkpoint import CONFIG, read_json
from model.checkpoints.gguf.files import is_gguf, open_gguf
from model.checkpoints.gguf.vocabulary import end_token_ids
from model.errors import ModelError

_TOKENIZER_CONFIG = "tokenizer_config.json"


def eos_token_ids(folder: Path) -> tuple[int, ...]:
    """Return the distinct ids of the tokens that end a completion; () if the checkpoint names none.

    They come from generation_config.json (or from config.json if it has none) and from tokenizer_config.json, because
    some chat models name the token that ends a turn only there. For a GGUF file they come from its metadata. Raises
    ModelError for an invalid id.
    """
    if is_gguf(folder):
        return end_token_ids(open_gguf(folder))
    ids: list[int] = []
    for name in ("generation_config.json", CONFIG):
        path = folder / name
        if ids or (name != CONFIG and not path.is_file()):
            continue
        ids.extend(_ids(path, read_json(path).get("eos_token_id")))
    tokenizer_id = _tokenizer_eos_id(folder)
    return tuple(dict.fromkeys((*ids, *(() if tokenizer_id is None else (tokenizer_id,)))))


def _ids(path: Path, value: object) -> list[int]:
    if value is None:
        return []
    entries = value if isinstance(value, list) else [value]
    ids = [token for token in entries if isinstance(token, int) and not isinstance(token, bool) and token >= 0]
    if len(ids) < len(entries):
        raise ModelError(f"{path}: eos_token_id is {value!r}, it must be a token id or a list of them")
    return ids


def _tokenizer_eos_id(folder: Path) -> int | None:
    """Return the id of the eos_token of tokenizer_config.json; None if it has none or the tokenizer lacks it."""
    path = folder / _TOKENIZER_CONFIG
    if not path.is_file():
        return None
    config = read_json(path)
    token = config.get("eos_token")
    if isinstance(token, dict):
        token = token.get("content")
    if not isinstance(token, str):
        return None
    added = config.get("added_tokens_decoder")
    if isinstance(added, dict):
        for number, entry in added.items():
            if isinstance(entry, dict) and entry.get("content") == token and number.isdecimal() and len(number) < 10:
                return int(number)
    return _id_in_tokenizer(folder / "tokenizer.json", token)


def _id_in_tokenizer(path: Path, token: str) -> int | None:
    """Return a token's id in tokenizer.json, without building the tokenizer; None if it is absent.

    A damaged file gives None, because Tokenizer reports it.
    """
    try:
        parts = json.loads(path.read_text("utf-8"))
        entries: Iterable[object] = parts.get("added_tokens") or ()
        for entry in entries:
            if isinstance(entry, dict) and entry.get("content") == token:
                return int(entry["id"])
        vocabulary = parts["model"]["vocab"]
        if isinstance(vocabulary, dict):
            return None if token not in vocabulary else int(vocabulary[token])
        return next((index for index, entry in enumerate(vocabulary) if entry[0] == token), None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return None
