"""Read folders that Hugging Face ``datasets`` wrote with ``save_to_disk``: Arrow files, state.json, dataset_info.json.

A ``Dataset`` is one folder. A ``DatasetDict`` has dataset_dict.json and a folder for each split. The library is not
needed, because the Arrow files are streams whose names are in state.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data.arrow_tables import arrow_rows
from data.errors import DataError
from data.refused import shown

_STATE, _DICT = "state.json", "dataset_dict.json"


def is_dataset_folder(path: Path) -> bool:
    """Return whether a folder was written by ``save_to_disk``."""
    return (path / _STATE).is_file() or (path / _DICT).is_file()


def dataset_rows(path: Path, split: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row with its location, "FILE, row N".

    split: split of a DatasetDict to read, or "all"; not needed if there is only one. Raises DataError if the split is
    needed or unknown, for a missing or damaged Arrow file, and for a state.json that does not name the files.
    """
    for folder in _folders(path, split):
        for file in _files(folder):
            for number, fields in enumerate(arrow_rows(file), start=1):
                yield f"{shown(folder / file.name)}, row {number}", fields


def _folders(path: Path, split: str | None) -> list[Path]:
    if not (path / _DICT).is_file():
        if split is not None:
            raise DataError(
                f"{shown(path)} is one dataset, without splits: omit the split {split!r}", parameter="split"
            )
        return [path]
    named = _json(path / _DICT).get("splits")
    splits = [name for name in named if _is_plain(name)] if isinstance(named, list) else []
    if not splits:
        raise DataError(f"{shown(path / _DICT)} names no split: write the dataset again with save_to_disk")
    if split == "all" and "all" not in splits:
        return [path / name for name in splits]
    if split is None and len(splits) > 1:
        raise DataError(f"{shown(path)} has the splits {', '.join(splits)}: choose one, or all", parameter="split")
    if split is not None and split not in splits:
        raise DataError(f"{shown(path)} has no split {split!r}: it has {', '.join(splits)}", parameter="split")
    return [path / (split or splits[0])]


def _files(folder: Path) -> list[Path]:
    """Return the paths of the Arrow files. Raises DataError if one is missing, or if state.json does not name them."""
    state = folder / _STATE
    if not state.is_file():
        raise DataError(f"{shown(folder)} has no {_STATE}: the split is incomplete; write it again with save_to_disk")
    listed = _json(state).get("_data_files")
    items: list[Any] = listed if isinstance(listed, list) else []
    names: list[Any] = [item.get("filename") for item in items if isinstance(item, dict)]
    files = [folder / name for name in names if _is_plain(name)]
    if not files or len(files) < len(names):
        raise DataError(f"{shown(state)} does not name the Arrow files: write the dataset again with save_to_disk")
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise DataError(
            f"{shown(missing[0])} is missing, which {_STATE} names"
            + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            + ": copy the entire folder"
        )
    return files


def _is_plain(name: object) -> bool:
    """Return whether a name can be that of an entry directly in a folder."""
    return isinstance(name, str) and bool(name) and name not in (".", "..") and not {"/", "\\", "\0"} & set(name)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{shown(path)} cannot be read ({error}): copy the entire folder again") from error
    return value if isinstance(value, dict) else {}
