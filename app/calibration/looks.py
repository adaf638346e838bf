"""Record the calibrations of each run. Each calibration with other labels, thresholds or levels is a further test."""

from __future__ import annotations

import json
from pathlib import Path

from app.errors import AppError
from data.atomic_write import atomic_write
from data.private import make_private_folder, private_opener

LOOKS_FILE = "looks"


def record_look(folder: Path, run: str, arm: str, digest: str) -> int:
    """Record a calibration and return the number of earlier, different calibrations of this run and arm.

    digest: hash of labels and settings, which identifies the calibration. The probability that any of the certificates
    is wrong is at most (looks + 1) delta, where looks is the returned number. Raises AppError if the record is damaged.
    """
    path = folder / LOOKS_FILE
    known = _read(path)
    mine = known.setdefault(f"{run} {arm}", [])
    if digest in mine:
        return mine.index(digest)
    mine.append(digest)
    make_private_folder(folder)
    with atomic_write(path) as part, open(part, "w", encoding="utf-8", opener=private_opener) as file:
        json.dump(known, file, indent=1, sort_keys=True)
    return len(mine) - 1


def _read(path: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(path.read_text("utf-8"))
        return {str(name): [str(digest) for digest in digests] for name, digests in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError) as error:
        raise AppError(
            f"{path} is damaged ({error}): move it away; earlier calibrations are then not counted"
        ) from error
