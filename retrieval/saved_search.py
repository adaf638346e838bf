"""Save and load a collection's search parameters, which a tuning run chooses.

All commands and the service read a collection's search parameters with this module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from data.atomic_write import naming_file
from data.columns import utc_now
from data.plain_file import read_plain_text
from data.private import private_opener
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_folder
from retrieval.retrieval_params import RetrievalParams

_MAX_BYTES = 1 << 20
_FIELDS = ("mode", "fusion", "depth", "dense_weight", "rrf_constant")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """Search parameters saved with a collection.

    params: search parameters. why: explanation of how they were chosen, for display. encoder: fingerprint of the
    encoder used for tuning, "" if unknown.
    """

    params: RetrievalParams
    why: str
    encoder: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object for ``from_json``."""
        return {"format": 1, **search_fields(self.params), "why": self.why, "encoder": self.encoder}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SavedSearch:
        """Parse the output of ``to_json``. Raises ValueError, KeyError or TypeError if it is invalid."""
        if value["format"] != 1:
            raise ValueError(f"format {value['format']}, this version reads 1")
        params = RetrievalParams(
            mode=value["mode"],
            fusion=value["fusion"],
            depth=int(value["depth"]),
            dense_weight=float(value["dense_weight"]),
            rrf_constant=float(value["rrf_constant"]),
        )
        return cls(params, str(value["why"]), str(value.get("encoder", "")))


def settings_path(home: Path, collection: str) -> Path:
    """Return the path of the saved search, ``home/collections/<name>/retrieval.json``."""
    return collection_folder(home, collection) / "retrieval.json"


def search_fields(params: RetrievalParams) -> dict[str, Any]:
    """Return the parameters that are saved, as JSON values: mode, fusion, depth, dense_weight and rrf_constant."""
    return {name: getattr(params, name) for name in _FIELDS}


def save_search(home: Path, collection: str, saved: SavedSearch) -> Path:
    """Write the saved search atomically and return its path. The collection must exist."""
    path = settings_path(home, collection)
    temporary = path.with_suffix(".json.new")
    with naming_file(path), open(temporary, "w", encoding="utf-8", opener=private_opener) as file:
        json.dump({**saved.to_json(), "saved_at": utc_now().isoformat()}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return path


def saved_search(home: Path, collection: str) -> SavedSearch | None:
    """Return the saved search, None if there is none. Raises RetrievalError, naming the file, if it is unreadable."""
    path = settings_path(home, collection)
    try:
        return SavedSearch.from_json(json.loads(read_plain_text(path, _MAX_BYTES)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RetrievalError(
            f"{path} cannot be read ({error}): remove that file, or tune the collection {collection!r} again"
        ) from error


def forget_search(home: Path, collection: str) -> bool:
    """Remove the saved search, and return whether there was one."""
    path = settings_path(home, collection)
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed


def search_params(home: Path, collection: str, **given: Any) -> RetrievalParams:
    """Return the collection's search parameters: the saved ones or the defaults, with the values of ``given``.

    given: fields of RetrievalParams; None leaves a field unchanged. Raises RetrievalError for an unreadable file, and
    ValueError for invalid values.
    """
    saved = saved_search(home, collection)
    return with_given(saved.params if saved else RetrievalParams(), **given)


def with_given(base: RetrievalParams, **given: Any) -> RetrievalParams:
    """Return ``base`` with the values of ``given`` that are not None.

    A given fusion implies hybrid mode. If the fusion changes, or no fusion is used, its weight and constant return to
    their defaults, so that equal searches have equal parameters. Raises ValueError for invalid values.
    """
    values = {name: value for name, value in given.items() if value is not None}
    default = RetrievalParams()
    fusion = values.get("fusion")
    if fusion is not None:
        values.setdefault("mode", "hybrid")
    if fusion not in (None, base.fusion):
        values.setdefault("dense_weight", default.dense_weight)
        values.setdefault("rrf_constant", default.rrf_constant)
    params = replace(base, **values)
    if params.mode == "hybrid":
        return params
    return replace(params, fusion=default.fusion, dense_weight=default.dense_weight, rrf_constant=default.rrf_constant)
