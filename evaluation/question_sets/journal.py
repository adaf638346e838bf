"""Record completed model calls and checks in a file, so that an interrupted command does not repeat them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from evaluation.errors import EvaluationError


class Journal:
    """Key-value pairs that are appended to a file. Without a path nothing is written to disk.

    resumed: number of values that the file contained when it was opened.
    """

    def __init__(self, path: Path | None, settings: dict[str, object]) -> None:
        """Open the file, or create it.

        settings: settings of the command. A file with other settings is rejected.

        Raises EvaluationError for a file with other settings or invalid lines, and OSError if it cannot be written.
        """
        self._values: dict[str, object] = {}
        self._file: TextIO | None = None
        self.resumed = 0
        if path is None:
            return
        if path.exists():
            self._read(path, settings)
            self._file = path.open("a", encoding="utf-8")
        else:
            self._file = path.open("x", encoding="utf-8")
            self._write({"settings": settings})

    def get(self, key: str) -> object | None:
        """Return the value of a key; None for an unknown key."""
        return self._values.get(key)

    def put(self, key: str, value: object) -> None:
        """Store a value. It is written to the file before this returns."""
        self._values[key] = value
        self._write({"key": key, "value": value})

    def close(self) -> None:
        """Close the file without deleting it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, row: dict[str, object]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()

    def _read(self, path: Path, settings: dict[str, object]) -> None:
        lines = path.read_text(encoding="utf-8").split("\n")
        complete = lines[:-1]  # the last line is incomplete if the process ended while writing it
        if lines[-1]:
            path.write_text("".join(f"{line}\n" for line in complete), encoding="utf-8")
        rows = []
        for number, line in enumerate(complete, start=1):
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise EvaluationError(
                    f"{path}, line {number}: the line is not valid JSON. Remove the file to start again"
                ) from error
        head = rows[0].get("settings") if rows and isinstance(rows[0], dict) else None
        if head != json.loads(json.dumps(settings)):
            raise EvaluationError(
                f"{path} belongs to a command with other settings (model, seed, number, collection): repeat it with "
                "the same settings to continue, or remove the file to start again"
            )
        for row in rows[1:]:
            self._values[str(row["key"])] = row["value"]
        self.resumed = len(self._values)
