"""Read the labelled training files of a verifier: pairs, or responses with marked words (RAGTruth's layout)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.models.evaluation_data import file_format
from data.errors import DataError
from data.pairs import PairExample, PairFile, load_pairs
from data.ragtruth import load_ragtruth
from evaluation.synthetic_claims.response_claims import response_claims

_TRAIN = "train"


def load_training_pairs(paths: Sequence[Path], *, skip_bad: bool = False, limit: int | None = None) -> PairFile:
    """Read the examples of all files, in order. The layout of each file is detected.

    Of responses with marked words, the split "train" is used, or all if there are no splits. limit: maximum number of
    pairs or responses per file. Raises DataError if responses have splits but none is in "train", so that a test set is
    not trained on by mistake. Also raises the errors of load_pairs and load_ragtruth.
    """
    examples: list[PairExample] = []
    skipped: list[str] = []
    for path in paths:
        if not _holds_responses(path):
            pairs = load_pairs([path], skip_bad=skip_bad, limit=limit)
            examples += pairs.examples
            skipped += pairs.skipped
            continue
        read = load_ragtruth(path, split="all", skip_bad=skip_bad)
        splits = {response.split for response in read.responses}
        responses = [r for r in read.responses if r.split == _TRAIN or splits == {""}][:limit]
        if not responses:
            raise DataError(
                f"no response of {path} is in the split {_TRAIN!r}, the splits are "
                f"{', '.join(sorted(splits))}: set that split for the responses to train on, or "
                "remove all splits"
            )
        found = list(response_claims(responses, path.name.split(".")[0] or path.resolve().name))
        if not found:
            raise DataError(f"no response of {path} makes a claim: nothing to train on")
        examples += found
        skipped += read.skipped
    if not examples:
        raise DataError("no file to train on")
    return PairFile(tuple(examples), tuple(skipped))


def _holds_responses(path: Path) -> bool:
    """Return whether a path contains responses with marked words.

    Returns False for a file of unknown layout, because load_pairs then names the invalid line. Raises DataError for
    such a folder.
    """
    try:
        return file_format(path) == "ragtruth"
    except DataError:
        if path.is_dir():
            raise
        return False
