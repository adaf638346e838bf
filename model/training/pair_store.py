"""Store pair rows in parts, each a compressed file of safetensors arrays."""

from __future__ import annotations

import lzma
import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from model.errors import ModelError
from model.training.pair_rows import UNKNOWN, PairRow, RowClaim

Arrays = NDArray[np.generic]
PART_BYTES = 12_000_000
"""Maximum bytes of a part before compression, which reduces it to about a twelfth."""
MOST_BYTES = 256_000_000
"""Maximum decompressed bytes of a part that is read. A part with a single long row may exceed PART_BYTES."""
_TOKEN_BYTES, _CLAIM_BYTES, _ROW_BYTES = 4, 28, 12
_COUNTS = ("windows", "claims", "source", "lengths", "start", "end", "supported", "labels")


def pack_rows(rows: Sequence[PairRow], sources: Sequence[str], part_bytes: int = PART_BYTES) -> Iterator[bytes]:
    """Yield the parts that hold the rows, in order.

    sources: names used as ``source`` in the rows; ``unpack_rows`` needs the same. part_bytes: maximum size of a part
    before compression, except for a single row. Raises ModelError for a row with targets, because the targets of
    teachers are stored separately.
    """
    number = {source: index for index, source in enumerate(sources)}
    part: list[PairRow] = []
    size = 0
    for row in rows:
        if any(claim.target is not None for claim in row.claims):
            raise ModelError("a row with a teacher's target cannot be stored")
        tokens = sum(len(window) + 1 for window in row.windows)
        labels = sum(len(claim.wrong) for claim in row.claims)
        own = _ROW_BYTES + _TOKEN_BYTES * tokens + _CLAIM_BYTES * len(row.claims) + labels
        if part and size + own > part_bytes:
            yield _packed(part, number)
            part, size = [], 0
        part.append(row)
        size += own
    if part:
        yield _packed(part, number)


def unpacked(part: bytes, most: int = MOST_BYTES) -> bytes:
    """Return the decompressed part. Raises ModelError if it is damaged or has more than ``most`` bytes.

    The limit protects against small files that decompress to large ones.
    """
    try:
        reader = lzma.LZMADecompressor()
        content = reader.decompress(part, most)
        if not reader.eof:
            reason = "is cut off" if reader.needs_input else f"holds more than {most:,} bytes"
            raise ModelError(f"this is not a part of a verifier's rows: it {reason}")
    except (lzma.LZMAError, EOFError) as error:
        raise ModelError(f"this is not a part of a verifier's rows ({error!r})") from error
    return content


def unpack_rows(part: bytes, sources: Sequence[str], vocab_size: int) -> Iterator[PairRow]:
    """Yield the rows of one part. vocab_size: vocabulary of the model that reads them. Raises ModelError if invalid."""
    try:
        found = _checked(load(unpacked(part)), len(sources), vocab_size)
        tokens, labels, weights = found["tokens"], found["wrong"].tolist(), found["weight"].tolist()
        windows, claims, source, lengths, start, end, supported, marked = (found[name].tolist() for name in _COUNTS)
        cuts = [tuple(tokens[a:b].tolist()) for a, b in pairwise([0, *accumulate(lengths)])]
        wrong = [tuple(labels[a:b]) for a, b in pairwise([0, *accumulate(marked)])]
        built = [
            RowClaim(s, e, bool(good), words, weight)
            for s, e, good, words, weight in zip(start, end, supported, wrong, weights, strict=True)
        ]
        first = zip(pairwise([0, *accumulate(windows)]), pairwise([0, *accumulate(claims)]), source, strict=True)
        rows = [PairRow(tuple(cuts[a:b]), tuple(built[c:d]), sources[name]) for (a, b), (c, d), name in first]
    except (SafetensorError, KeyError, IndexError, ValueError, TypeError) as error:
        raise ModelError(f"this is not a part of a verifier's rows ({error!r})") from error
    yield from rows


def _checked(found: dict[str, Arrays], sources: int, vocab_size: int) -> dict[str, Arrays]:
    """Return the arrays. Raises ValueError if their types, values or lengths are invalid."""
    for name in (*_COUNTS, "tokens", "wrong", "weight"):
        array, kind = found[name], "f" if name == "weight" else "i"
        if array.ndim != 1 or array.dtype.kind != kind:
            raise ValueError(f"{name} is not a list of {'numbers' if kind == 'f' else 'integers'}")
    limits = {"tokens": (0, vocab_size - 1), "wrong": (UNKNOWN, 1), "supported": (0, 1), "source": (0, sources - 1)}
    for name in (*_COUNTS, "tokens", "wrong"):
        low, high = limits.get(name, (0, math.inf))
        if found[name].size and not low <= int(found[name].min()) <= int(found[name].max()) <= high:
            raise ValueError(f"{name} are outside {low} to {high}")
    for counts, counted in (("windows", "lengths"), ("lengths", "tokens"), ("claims", "start"), ("labels", "wrong")):
        if int(found[counts].astype(np.int64).sum()) != found[counted].size:
            raise ValueError(f"{counts} do not add up to the {found[counted].size} {counted}")
    return found


def _packed(rows: Sequence[PairRow], number: dict[str, int]) -> bytes:
    claims = [claim for row in rows for claim in row.claims]
    windows = [window for row in rows for window in row.windows]
    arrays: dict[str, Arrays] = {
        "tokens": np.array([token for window in windows for token in window], dtype=np.int32),
        "lengths": np.array([len(window) for window in windows], dtype=np.int32),
        "windows": np.array([len(row.windows) for row in rows], dtype=np.int32),
        "claims": np.array([len(row.claims) for row in rows], dtype=np.int32),
        "source": np.array([number[row.source] for row in rows], dtype=np.int32),
        "start": np.array([claim.start for claim in claims], dtype=np.int32),
        "end": np.array([claim.end for claim in claims], dtype=np.int32),
        "supported": np.array([claim.supported for claim in claims], dtype=np.int8),
        "weight": np.array([claim.weight for claim in claims], dtype=np.float64),
        "labels": np.array([len(claim.wrong) for claim in claims], dtype=np.int32),
        "wrong": np.array([label for claim in claims for label in claim.wrong], dtype=np.int8),
    }
    return lzma.compress(save(arrays))
