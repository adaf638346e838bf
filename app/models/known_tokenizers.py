"""Test the tokenizers of external models in a child process with limited resources, once per home and file."""

from __future__ import annotations

import hashlib
import logging
from importlib.metadata import version
from pathlib import Path

from app.home.permissions import LOGGER, open_private_home
from data.private import make_private_folder, private_opener
from model.checkpoints.files import sha256_of
from model.checkpoints.gguf.files import is_gguf
from model.checkpoints.shipped import shipped_decoder
from model.checkpoints.source import LONGEST_TOKENIZER, TOKENIZER
from model.checkpoints.tokenizer_limits import try_tokenizer

FOLDER = "tokenizers"
_TRIAL = 1  # version of the test; a tokenizer that passed another version is tested again


def check_tokenizer(checkpoint: Path, home: Path | None) -> None:
    """Test the tokenizer of a model, unless it ships with Plumbline or passed before.

    checkpoint: folder or GGUF file. home: data directory (home) that records passed tests, by SHA-256 for a
    tokenizer.json and by path, size and times for a GGUF file; None tests every time. A model without either file is
    skipped, because loading it reports the error. Raises the ModelError of try_tokenizer.
    """
    file = checkpoint if is_gguf(checkpoint) else checkpoint / TOKENIZER
    if not file.is_file() or checkpoint.resolve() == shipped_decoder().resolve():
        return
    record = None if home is None else _record(home, file)
    if record is not None and record.is_file():
        return
    try_tokenizer(checkpoint)
    if home is None or record is None:
        return
    try:
        open_private_home(home)
        make_private_folder(record.parent)
        open(record, "wb", opener=private_opener).close()
    except OSError as error:
        logging.getLogger(LOGGER).warning(
            "plumbline: the check of %s could not be recorded (%s): it is repeated whenever the file is opened",
            file,
            error.strerror or error,
        )


def _record(home: Path, file: Path) -> Path | None:
    """Return the path of the empty file that records a passed test, or None for a file that is too long."""
    if is_gguf(file):
        status = file.stat()
        stamp = str(file.resolve()), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        digest = hashlib.sha256(repr(stamp).encode("utf-8", "surrogateescape")).hexdigest()
    elif file.stat().st_size > LONGEST_TOKENIZER:
        return None
    else:
        digest = sha256_of(file)
    return home / FOLDER / f"{digest}-{version('tokenizers')}-{_TRIAL}"
