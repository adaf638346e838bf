"""Records of the engine that holds the indexes of a generation."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from data.plain_file import read_plain_text

EngineName = Literal["local", "pgvector", "milvus"]
ENGINE_NAMES: tuple[EngineName, ...] = get_args(EngineName)

RECORD = "engine.json"
"""File in a generation's folder that names the engine of its indexes.

It is written before the engine receives anything, so that the remains of a killed job can be found and removed.
"""

_BUILD_ID = re.compile(r"[0-9a-f]{12}")
_MAX_BYTES = 1 << 14


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """The engine of a generation's indexes and the build ID that names them there.

    name: name of the engine, never "local". address: its address without a password, "" for the default address.
    build_id: 12 random hexadecimal digits that are part of the names of the tables or Milvus collections. Every build
    has a new one, so that it never changes a generation that is in use.
    """

    name: EngineName
    address: str
    build_id: str

    def to_json(self) -> dict[str, str]:
        """Return a JSON object."""
        return cast(dict[str, str], asdict(self))

    @classmethod
    def from_json(cls, value: Any) -> EngineRecord:
        """Parse the output of ``to_json``. Raises TypeError, KeyError or ValueError if it is invalid."""
        name, address, build_id = str(value["name"]), str(value["address"]), str(value["build_id"])
        if name not in ENGINE_NAMES or name == "local" or not _BUILD_ID.fullmatch(build_id):
            raise ValueError(f"{value!r} is not the record of an engine")
        return cls(cast(EngineName, name), address, build_id)


def new_record(name: EngineName, address: str) -> EngineRecord:
    """Return a record with a new build ID."""
    return EngineRecord(name, address, uuid.uuid4().hex[:12])


def write_record(folder: Path, record: EngineRecord) -> None:
    """Write the record into a generation's folder."""
    (folder / RECORD).write_text(json.dumps(record.to_json()), encoding="utf-8")


def read_record(folder: Path) -> EngineRecord | None:
    """Return the record in a generation's folder; None for local files or an unreadable record."""
    try:
        value: Mapping[str, Any] = json.loads(read_plain_text(folder / RECORD, _MAX_BYTES))
        return EngineRecord.from_json(value)
    except (OSError, ValueError, KeyError, TypeError):
        return None
