"""Write the training rows of a verifier to a folder, so that they can be built on one machine and used on another.

``rows.json`` lists the files with their SHA-256, ``part-*.xz`` contain the rows, and ``held-*.xz`` contain the claims
held out for calibration and scoring. A file is smaller than 15 MB, unless a single row or claim is larger.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from app.errors import AppError
from app.training.verifier.rows import VerifierRows
from model.checkpoints.files import sha256_of, write_json
from model.checkpoints.minilm import MINILM_SHA256
from model.training.pair_store import PART_BYTES, pack_rows

LIST, FORMAT = "rows.json", 1


class RowsFolder:
    """A folder of rows to write, as a context manager. Without a call of ``write`` no folder remains."""

    def __init__(self, folder: Path) -> None:
        """Create a temporary folder. Raises AppError if ``folder`` exists or cannot be written."""
        self._folder = folder
        self._temporary = folder.with_name(f".{folder.name}.{os.getpid()}.part")
        if os.path.lexists(folder):  # also a broken link
            raise AppError(f"{folder} exists already: name another folder for the rows, or remove that one")
        try:
            self._temporary.mkdir(parents=True)
        except OSError as error:
            raise AppError(f"the rows cannot be written to {folder}: {error.strerror or error}") from error

    def __enter__(self) -> RowsFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def write(self, rows: VerifierRows) -> tuple[Path, ...]:
        """Write the rows and return the paths of the files. Raises AppError if this is impossible."""
        try:
            self._write(rows)
        except OSError as error:
            raise AppError(f"the rows cannot be written to {self._folder}: {error.strerror or error}") from error
        return tuple(sorted(self._folder.iterdir()))

    def _write(self, rows: VerifierRows) -> None:
        sources = sorted({row.source for row in rows.rows})
        for number, part in enumerate(pack_rows(rows.rows, sources)):
            (self._temporary / f"part-{number:04d}.xz").write_bytes(part)
        for number, lines in enumerate(_held_out_lines(rows)):
            (self._temporary / f"held-{number:04d}.xz").write_bytes(lzma.compress(lines))
        about = {
            "format": FORMAT,
            "minilm": MINILM_SHA256,  # identifies the tokenizer of the rows
            "window_tokens": rows.window_tokens,
            "answer_tokens": rows.answer_tokens,
            "rows": len(rows.rows),
            "sources": sources,
            "made": {**rows.made, "bad_lines": len(rows.skipped)},
            "files": {file.name: sha256_of(file) for file in sorted(self._temporary.iterdir())},
        }
        write_json(self._temporary / LIST, about)
        self._temporary.rename(self._folder)


def _held_out_lines(rows: VerifierRows) -> Iterator[bytes]:
    """Yield the held-out claims as JSON lines, in pieces of about PART_BYTES."""
    lines: list[bytes] = []
    size = 0
    for unseen, examples in ((False, rows.development), (True, rows.unseen)):
        for example in examples:
            line = json.dumps({**asdict(example), "unseen": unseen}).encode() + b"\n"
            if lines and size + len(line) > PART_BYTES:
                yield b"".join(lines)
                lines, size = [], 0
            lines.append(line)
            size += len(line)
    if lines:
        yield b"".join(lines)
