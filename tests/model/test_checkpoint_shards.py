"""Weights files and the index of shards: what is cut, swapped or placed wrongly is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import save_file

from model.checkpoints.checkpoint import INDEX, WEIGHTS
from model.checkpoints.loading import load_decoder
from model.errors import ModelError
from tests.model.checkpoint_folders import QUERY, write, write_sharded


def edit_index(folder: Path, key: str, shard: object) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    index["weight_map"][key] = shard
    (folder / INDEX).write_text(json.dumps(index), "utf-8")


def test_missing_shard(tmp_path: Path) -> None:
    write_sharded(tmp_path)
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(ModelError, match=r"b\.safetensors"):
        load_decoder(tmp_path)


@pytest.mark.parametrize("kept", [0, 5, 100, -8])
@pytest.mark.parametrize("name", [WEIGHTS, "b.safetensors"])
def test_truncated_file(tmp_path: Path, name: str, kept: int) -> None:
    path = (write if name == WEIGHTS else write_sharded)(tmp_path) / name
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelError, match=f"{name}"):
        load_decoder(tmp_path)


def test_damaged_header(tmp_path: Path) -> None:
    path = write(tmp_path) / WEIGHTS
    content = bytearray(path.read_bytes())
    content[:8] = (2**62).to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"{WEIGHTS}"):
        load_decoder(tmp_path)


def test_swapped_shards(tmp_path: Path) -> None:
    write_sharded(tmp_path)
    a, b = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    content = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(content)
    with pytest.raises(ModelError, match=rf"{INDEX} places .* in [ab]\.safetensors, where they are not"):
        load_decoder(tmp_path)


def test_a_shard_without_tensors(tmp_path: Path) -> None:
    write_sharded(tmp_path)
    save_file({}, tmp_path / "b.safetensors")
    with pytest.raises(ModelError, match=rf"{INDEX} places .* in b\.safetensors, where they are not"):
        load_decoder(tmp_path)


def test_key_is_not_where_the_index_says(tmp_path: Path) -> None:
    write_sharded(tmp_path)
    shard = json.loads((tmp_path / INDEX).read_text("utf-8"))["weight_map"][QUERY]
    edit_index(tmp_path, QUERY, "a.safetensors" if shard == "b.safetensors" else "b.safetensors")
    with pytest.raises(ModelError, match=rf"places {QUERY} in .*\.safetensors, where they are not"):
        load_decoder(tmp_path)


def test_key_the_index_does_not_know(tmp_path: Path) -> None:
    write_sharded(tmp_path)
    index = json.loads((tmp_path / INDEX).read_text("utf-8"))
    del index["weight_map"][QUERY]
    (tmp_path / INDEX).write_text(json.dumps(index), "utf-8")
    with pytest.raises(ModelError, match=f"holds {QUERY}, which {INDEX} does not place there"):
        load_decoder(tmp_path)


@pytest.mark.parametrize("shard", ["../outside.safetensors", "/a/b.safetensors", "pytorch_model.bin", "", 3, None])
def test_index_cannot_name_other_files(tmp_path: Path, shard: object) -> None:
    write(tmp_path)
    (tmp_path / WEIGHTS).rename(tmp_path.parent / "outside.safetensors")
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {QUERY: shard}}), "utf-8")
    with pytest.raises(ModelError, match=f"{INDEX}.*{QUERY}"):
        load_decoder(tmp_path)


@pytest.mark.parametrize("index", ["{}", '{"weight_map": {}}', '{"weight_map": []}'])
def test_index_without_a_map(tmp_path: Path, index: str) -> None:
    write(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    (tmp_path / INDEX).write_text(index, "utf-8")
    with pytest.raises(ModelError, match="weight_map"):
        load_decoder(tmp_path)
