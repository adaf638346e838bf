"""How a collection is searched unless a command says otherwise: what ``plumbline tune --save`` chose, in a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import AppError
from data.columns import utc_now
from retrieval.collection_folder import collection_folder
from retrieval.retrieval_params import RetrievalParams

_FIELDS = ("mode", "fusion", "depth", "dense_weight", "rrf_constant")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """params: of the search. why: how it was chosen, for people."""

    params: RetrievalParams
    why: str


def settings_path(home: Path, collection: str) -> Path:
    """``home/collections/<name>/retrieval.json``."""
    return collection_folder(home, collection) / "retrieval.json"


def search_fields(params: RetrievalParams) -> dict[str, Any]:
    """What is kept of a setting: mode, fusion and their numbers, as JSON values."""
    return {name: getattr(params, name) for name in _FIELDS}


def save_search(home: Path, collection: str, params: RetrievalParams, why: str) -> Path:
    """Write the file whole or not at all. The collection must exist."""
    path = settings_path(home, collection)
    aside = path.with_suffix(".json.new")
    value = {"format": 1, **search_fields(params), "why": why, "saved_at": utc_now().isoformat()}
    with aside.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    return path


def saved_search(home: Path, collection: str) -> SavedSearch | None:
    """What was saved for the collection, or None. Raises AppError, naming the file, if it cannot be read."""
    path = settings_path(home, collection)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != 1:
            raise ValueError(f"format {value['format']}, this version reads 1")
        params = RetrievalParams(**{name: value[name] for name in _FIELDS})
        return SavedSearch(params, str(value["why"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AppError(f"{path} cannot be read ({error}): remove it, or run plumbline tune --save again") from error
