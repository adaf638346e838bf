"""The staging folder ``home/staging/JOB/`` of uploaded files, and the names that such files may have."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from app.errors import AppError

LONGEST_NAME = 200
_ORPHAN_S = 3600.0
_JOB = re.compile(r"[0-9a-f]{32}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class BadNameError(AppError):
    """An invalid name of an uploaded file."""


def safe_name(name: str) -> str:
    """Return a valid name unchanged. Raises BadNameError for an invalid one. Names are never rewritten.

    A valid name is a file name, or a relative path with ``/`` below the uploaded folder.
    """
    shown = _CONTROL.sub("?", name)[:80]
    parts = name.split("/")
    reason = ""
    if not name or not name.strip():
        reason = "it is empty"
    elif len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        reason = f"it is longer than {LONGEST_NAME} bytes"
    elif _CONTROL.search(name) or not _is_text(name):
        reason = "it has control characters, or is not valid Unicode"
    elif "\\" in name or re.match(r"[A-Za-z]:", name):
        reason = "it is a Windows path: use forward slashes, and no leading slash"
    elif any(part in ("", ".", "..") for part in parts):
        reason = "it leaves its folder: give a name, or a path below the folder"
    elif any(part.startswith(".") for part in parts):
        reason = "names with a leading dot are hidden, and not read"
    elif any(part != part.strip() for part in parts):
        reason = "it has leading or trailing spaces"
    if reason:
        raise BadNameError(f"a file cannot be called {shown!r}: {reason}")
    return name


def staging_folder(home: Path, job_id: str) -> Path:
    """Return the folder of a job's uploaded files. Raises ValueError for an invalid ID."""
    if not _JOB.fullmatch(job_id):
        raise ValueError(f"{job_id!r} is not a job id")
    return home / "staging" / job_id


def remove_staging(home: Path, job_id: str) -> None:
    """Remove the uploaded files of a job, if there are any."""
    shutil.rmtree(staging_folder(home, job_id), ignore_errors=True)


def remove_orphans(home: Path, known: Iterable[str]) -> None:
    """Remove folders of unknown jobs that are older than an hour. A crash can leave such folders. known: job IDs."""
    folder = home / "staging"
    if not folder.is_dir():
        return
    kept = set(known)
    for inner in folder.iterdir():
        if inner.name not in kept and time.time() - inner.stat().st_mtime > _ORPHAN_S:
            shutil.rmtree(inner, ignore_errors=True)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
