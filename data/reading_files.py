"""Load reading examples from Plumbline's JSONL or SQuAD's JSON. The layout is detected by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from data.reading_examples import ReadingFile, load_reading
from data.squad import is_squad, load_squad


def load_reading_files(
    paths: Sequence[Path], *, skip_bad: bool = False, limit: int | None = None, texts: Sequence[Path] = ()
) -> ReadingFile:
    """Load the examples of all files, in order.

    limit: maximum number of examples per file; None for all. texts: documents with the passages that excerpts refer to.
    Raises DataError as ``load_reading`` and ``load_squad`` do.
    """
    squad = {path for path in paths if is_squad(path)}
    if not squad:
        return load_reading(paths, skip_bad=skip_bad, limit=limit, texts=texts)
    found = [
        load_squad(path, skip_bad=skip_bad, limit=limit)
        if path in squad
        else load_reading([path], skip_bad=skip_bad, limit=limit, texts=texts)
        for path in paths
    ]
    examples = tuple(example for file in found for example in file.examples)
    return ReadingFile(examples, tuple(line for file in found for line in file.skipped))
