"""Rows that are stored and read back are the same rows, in parts of a size, and what is no part is refused."""

from __future__ import annotations

import lzma
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from model.errors import ModelError
from model.training.pair_rows import UNKNOWN, PairRow, RowClaim
from model.training.pair_store import pack_rows, unpack_rows, unpacked

SOURCES = ("", "piers", "boats:qa")


@st.composite
def pair_rows(draw: st.DrawFn) -> PairRow:
    windows = draw(st.lists(st.lists(st.integers(0, 30_521), min_size=6, max_size=12), min_size=1, max_size=3))
    claims = []
    for start, end in draw(st.sampled_from([((0, 1),), ((1, 4),), ((0, 2), (2, 6))])):
        labels = st.lists(st.sampled_from([0, 1, UNKNOWN]), min_size=end - start, max_size=end - start)
        wrong = draw(st.one_of(st.just([]), labels))
        weight = draw(st.floats(1e-6, 10))
        claims.append(RowClaim(start, end, draw(st.booleans()), tuple(wrong), weight))
    return PairRow(tuple(map(tuple, windows)), tuple(claims), draw(st.sampled_from(SOURCES)))


@settings(deadline=None)
@given(st.lists(pair_rows(), max_size=12), st.integers(1, 2000))
def test_rows_come_back_as_they_were_in_parts_of_the_size(rows: list[PairRow], part_bytes: int) -> None:
    parts = list(pack_rows(rows, SOURCES, part_bytes))
    read = [list(unpack_rows(part, SOURCES, 30_522)) for part in parts]
    assert [row for part in read for row in part] == rows
    assert all(read)
    for part, found in zip(parts, read, strict=True):
        arrays = sum(array.nbytes for array in load(lzma.decompress(part)).values())
        assert len(found) == 1 or arrays <= part_bytes


def row() -> PairRow:
    return PairRow(((5, 6, 7),), (RowClaim(0, 2, True),), "piers")


def test_rows_with_targets_are_refused() -> None:
    distil_rows = replace(row(), claims=(replace(row().claims[0], target=0.5),))
    with pytest.raises(ModelError, match="teacher's target"):
        list(pack_rows([row(), distil_rows], SOURCES))


def test_a_small_file_that_claims_to_be_a_large_one_is_refused() -> None:
    bomb = lzma.compress(bytes(1_000_000))
    assert len(bomb) < 1000
    with pytest.raises(ModelError, match="holds more than 10,000 bytes"):
        unpacked(bomb, 10_000)
    assert len(unpacked(bomb, 1_000_000)) == 1_000_000
    with pytest.raises(ModelError, match="is cut off"):
        unpacked(bomb[:-20])


def test_what_is_no_part_is_refused() -> None:
    (part,) = pack_rows([row()], SOURCES)
    arrays = load(lzma.decompress(part))
    for wrong in (
        b"",
        part[: len(part) // 2],
        lzma.compress(b"no tensors"),
        lzma.compress(save({name: array for name, array in arrays.items() if name != "end"})),
        lzma.compress(save({**arrays, "source": arrays["source"] + 9})),
        lzma.compress(save({**arrays, "end": arrays["end"][:0]})),
        *(
            lzma.compress(save({**arrays, name: wrong}))
            for name, wrong in (
                ("lengths", arrays["lengths"] * 0),
                ("lengths", arrays["lengths"] - 1),  # tokens that are no row's
                ("tokens", arrays["tokens"] - 10),
                ("tokens", arrays["tokens"] + 30_522),
                ("tokens", arrays["tokens"].astype(np.float32)),
                ("tokens", arrays["tokens"][None]),
                ("supported", arrays["supported"] + 4),
                ("source", arrays["source"] - 2),
                ("labels", arrays["labels"] + 1),
                ("weight", arrays["weight"] * 0),
            )
        ),
    ):
        with pytest.raises(ModelError):
            list(unpack_rows(wrong, SOURCES, 30_522))
