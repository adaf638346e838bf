"""Which tokens end a completion: what the checkpoint's generation_config.json, config.json and tokenizer say."""

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
    """Ids that end a completion, each once; () if the checkpoint names none.

    Those of generation_config.json, or of config.json where it has none, and the tokenizer's own eos_token: chat models
    exist whose turns end with a token that tokenizer_config.json alone names. Of a GGUF file those its metadata names.
    Raises ModelError for what is no id.
    """
    if is_gguf(folder):
        return end_token_ids(open_gguf(folder))
    found: list[int] = []
    for name in ("generation_config.json", CONFIG):
        path = folder / name
        if found or (name != CONFIG and not path.is_file()):
            continue
        found.extend(_ids(path, read_json(path).get("eos_token_id")))
    named = _tokenizers_own(folder)
    return tuple(dict.fromkeys((*found, *(() if named is None else (named,)))))


def _ids(path: Path, value: object) -> list[int]:
    if value is None:
        return []
    entries = value if isinstance(value, list) else [value]
    ids = [token for token in entries if isinstance(token, int) and not isinstance(token, bool) and token >= 0]
    if len(ids) < len(entries):
        raise ModelError(f"{path}: eos_token_id is {value!r}, it must be a token id or a list of them")
    return ids


def _tokenizers_own(folder: Path) -> int | None:
    """The id of tokenizer_config.json's eos_token; None if it names none, or one that the tokenizer does not have."""
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
    """A token's id in tokenizer.json, without building the tokenizer. A damaged file is for Tokenizer to report."""
    try:
        parts = json.loads(path.read_text("utf-8"))
        entries: Iterable[object] = parts.get("added_tokens") or ()
        for entry in entries:
            if isinstance(entry, dict) and entry.get("content") == token:
                return int(entry["id"])
        vocabulary = parts["model"]["vocab"]
        if isinstance(vocabulary, dict):
            return None if token not in vocabulary else int(vocabulary[token])
        return next((place for place, entry in enumerate(vocabulary) if entry[0] == token), None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return None
