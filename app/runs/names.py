"""Display names of runs."""

from __future__ import annotations

from evaluation.runs.run_store import RunInfo

_LONGEST = 32
_SHORT = 8


def run_title(info: RunInfo) -> str:
    """Return the name that the user gave to the run, or "MODEL on COLLECTION" if there is none."""
    if info.name and info.name != info.id:
        return info.name
    model, collection = model_of(info), collection_of(info)
    return f"{model} on {collection}" if collection else model


def model_of(info: RunInfo) -> str:
    """Return the name of the generator of a run."""
    return dict(info.labels).get("model", "") or "unknown model"


def collection_of(info: RunInfo) -> str:
    """Return the name of the searched collection, "" if there was none."""
    return dict(info.labels).get("collection", "")


def distinct_names(one: RunInfo, other: RunInfo) -> tuple[str, str]:
    """Return short names that distinguish two runs.

    The first of these that differ: names given by the user, models, collections, prefixes of the IDs.
    """
    candidates = [
        *([(one.name, other.name)] if one.name != one.id and other.name != other.id else []),
        (model_of(one), model_of(other)),
        (collection_of(one), collection_of(other)),
    ]
    for mine, theirs in candidates:
        if mine and theirs and mine != theirs and max(len(mine), len(theirs)) <= _LONGEST:
            return mine, theirs
    length = _SHORT
    while one.id[:length] == other.id[:length] and length < len(one.id):
        length += 1
    return one.id[:length], other.id[:length]
