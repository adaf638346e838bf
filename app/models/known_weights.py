"""Record the SHA-256 of every weight file that is opened, to detect files that changed."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.home.permissions import LOGGER, open_private_home
from data.private import make_private, make_private_folder
from model.checkpoints.files import sha256_of, write_json
from model.checkpoints.shipped import shipped_decoder
from model.checkpoints.source import open_checkpoint
from model.errors import ModelError

FOLDER = "weights"


@dataclass(frozen=True, slots=True)
class KnownFile:
    """The state of a weight file when it was last opened.

    path: resolved path. size: size in bytes. modified_ns: nanoseconds since the epoch. sha256: SHA-256 (hex).
    """

    path: str
    size: int
    modified_ns: int
    sha256: str


class KnownWeights:
    """The records of weight files in a home: one small JSON file per weight file in the folder ``weights``.

    A file whose size differs from the record is a new file, and is recorded again. A file with the same path and size
    but another hash was damaged or replaced, and is refused until it is accepted. If the home is read-only, nothing is
    recorded, which is logged.
    """

    def __init__(self, home: Path) -> None:
        """home: data directory (home), created with access for its owner only when the first file is recorded."""
        self._home = home

    def sha256_of(self, file: Path) -> str:
        """Return the SHA-256 (hex) of a weight file, after comparing it with the record and recording it.

        Raises ModelError if the file has the recorded size but another hash.
        """
        found = _current_state(file)
        known = self._read(file)
        if known is not None and known.size == found.size and known.sha256 != found.sha256:
            when = "its modification time is the same: the storage or a copy may have damaged it"
            if known.modified_ns != found.modified_ns:
                when = f"it was written at {_time(found.modified_ns)}"
            raise ModelError(
                f"{file} has changed since it was last opened: SHA-256 {found.sha256[:16]}..., before "
                f"{known.sha256[:16]}..., with the same size; {when}. Restore or download it again; if it was meant to "
                f"be replaced: plumbline model check {file.parent if file.suffix != '.gguf' else file} --accept"
            )
        if known != found:
            self._write(found)
        return found.sha256

    def accept(self, checkpoint: Path) -> tuple[Path, ...]:
        """Record the current weight files of a checkpoint and return them. checkpoint: folder or GGUF file.

        Raises the ModelError of open_checkpoint.
        """
        files = open_checkpoint(checkpoint).files
        for file in files:
            self._write(_current_state(file))
        return files

    def forget(self, checkpoint: Path) -> None:
        """Delete the records of a checkpoint. Called after Plumbline itself has written it."""
        for file in open_checkpoint(checkpoint).files:
            with suppress(OSError):  # a read-only home has no record
                self._record_path(file).unlink(missing_ok=True)

    def _record_path(self, file: Path) -> Path:
        return self._home / FOLDER / f"{hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:32]}.json"

    def _read(self, file: Path) -> KnownFile | None:
        """Return the record of a file. None if there is none or it cannot be read; it is then written again."""
        try:
            known = KnownFile(**json.loads(self._record_path(file).read_text("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return known if isinstance(known.sha256, str) and known.path == _name(file) else None

    def _write(self, found: KnownFile) -> None:
        path = self._record_path(Path(os.fsdecode(found.path.encode("utf-8", "surrogateescape"))))
        try:
            open_private_home(self._home)
            make_private_folder(path.parent)
            write_json(path, asdict(found))
            make_private(path)
        except OSError as error:
            logging.getLogger(LOGGER).warning(
                "plumbline: the SHA-256 of %s could not be recorded in %s (%s): a later change would not be noticed",
                found.path,
                path.parent,
                error.strerror or error,
            )


def known_weights(home: Path | None, checkpoint: Path) -> KnownWeights | None:
    """Return the records of a home. None without a home, and for the shipped decoder, which changes with the version.

    checkpoint: folder or GGUF file that is to be opened.
    """
    if home is None or checkpoint.resolve() == shipped_decoder().resolve():
        return None
    return KnownWeights(home)


def _current_state(file: Path) -> KnownFile:
    status = file.stat()
    return KnownFile(_name(file), status.st_size, status.st_mtime_ns, sha256_of(file))


def _name(file: Path) -> str:
    return os.fsencode(file.resolve()).decode("utf-8", "surrogateescape")


def _time(modified_ns: int) -> str:
    return datetime.fromtimestamp(modified_ns / 1e9, UTC).isoformat(sep=" ", timespec="seconds")
