"""Checkpoint folders: config.json and safetensors (one file or shards), validated by their headers and streamed.

Independent of architectures: a loader names the tensors that it needs and provides the memory for them. Pickles are
never opened, and no code from a checkpoint is run.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from model.errors import ModelError

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_FLOATS = frozenset(("F32", "F16", "BF16"))
_SHOWN = 5
_LONGEST_JSON = 1 << 25  # bytes; parsed it takes tens of times as much memory


class _Slice(Protocol):
    def get_shape(self) -> list[int]: ...
    def get_dtype(self) -> str: ...


class OpenFile(Protocol):
    """An open file of tensors."""

    def get_tensor(self, name: str) -> Tensor:
        """Return the tensor with this key."""
        ...


class _TensorFile(OpenFile, Protocol):
    """The part of safetensors' reader that is used here. The library's own stub has no types."""

    def keys(self) -> list[str]: ...
    def get_slice(self, name: str) -> _Slice: ...


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a checkpoint on disk. dtype: as safetensors names it."""

    key: str
    file: Path
    shape: tuple[int, ...]
    dtype: str


@contextmanager
def _opened(path: Path) -> Iterator[_TensorFile]:
    try:
        with safe_open(path, framework="pt") as file:
            yield cast(_TensorFile, file)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} is truncated or damaged ({error}): fetch it again") from error


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A decoder on disk: its configuration and its tensors, grouped by file. Weights are not loaded.

    folder: the folder, or the file of a single-file checkpoint. config: fields of a config.json. config_name: name of
    the configuration, for messages. dtypes: dtypes that can be read. name_in_file: maps a key to the tensor's name in
    the file. open_file: opens one of ``files``.
    """

    folder: Path
    config: Mapping[str, object]
    tensors: tuple[StoredTensor, ...]
    config_name: str = CONFIG
    dtypes: frozenset[str] = _FLOATS
    name_in_file: Callable[[str], str] = str
    open_file: Callable[[Path], AbstractContextManager[OpenFile]] = _opened

    @property
    def files(self) -> tuple[Path, ...]:
        """The weight files, without repetitions, sorted by name."""
        return tuple(sorted({tensor.file for tensor in self.tensors}))

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all tensors."""
        return frozenset(tensor.key for tensor in self.tensors)

    @property
    def where(self) -> str:
        """Location of the configuration, for messages."""
        return f"{self.folder / CONFIG}" if self.config_name == CONFIG else f"{self.folder} ({self.config_name})"

    def name(self, key: str) -> str:
        """Return a tensor's name in the file."""
        return self.name_in_file(key)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read config.json and the headers of the weight files in ``folder``.

    Raises ModelError, naming file and key, if the folder or a file is missing, JSON is invalid, only pickles are
    present, a shard is missing or damaged, index and shards disagree, or the config requires custom code (auto_map) or
    quantised weights.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a checkpoint folder: it {'is a file' if folder.exists() else 'is missing'}")
    config = read_json(folder / CONFIG)
    for field, remedy in (
        ("auto_map", "code in checkpoints is never run; use a checkpoint of a supported architecture"),
        ("quantization_config", "quantised checkpoints are not supported; use one in fp32, fp16 or bf16"),
    ):
        if config.get(field):
            raise ModelError(f"{folder / CONFIG}: {field} is set: {remedy}")
    if (folder / WEIGHTS).is_file():
        return Checkpoint(folder, config, stored_tensors(folder / WEIGHTS))
    if (folder / INDEX).is_file():
        return Checkpoint(folder, config, _sharded(folder / INDEX))
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise ModelError(
            f"{folder} holds {_some(pickles)} but no {WEIGHTS}: pickled weights can run code when opened and are "
            "refused; convert to safetensors"
        )
    raise ModelError(f"{folder} holds neither {WEIGHTS} nor {INDEX}: the weights are missing")


def read_json(path: Path) -> dict[str, object]:
    """Read a JSON object from ``path``. Raises ModelError, naming the file and where possible the line."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelError(f"{path} is not a regular file")  # a pipe could block for ever
        if (size := path.stat().st_size) > _LONGEST_JSON:
            raise ModelError(f"{path} is {size:,} bytes long: at most {_LONGEST_JSON:,} are supported")
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing: a checkpoint folder must hold it") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise ModelError(f"{path} is not valid JSON: line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, numbers of thousands of digits, unlimited nesting
        raise ModelError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path} must hold a JSON object, not {type(value).__name__}")
    return value


def check_keys(checkpoint: Checkpoint, shapes: Mapping[str, tuple[int, ...]], ignored: frozenset[str]) -> None:
    """Check the checkpoint's keys, shapes and dtypes against the required ones; reads headers only.

    shapes: required shape of each key. ignored: keys that may be present. Raises one ModelError for all keys that are
    missing, unexpected, of the wrong shape or not floating point. It shows up to five of each kind and their number.
    """
    stored = {tensor.key: tensor for tensor in checkpoint.tensors}
    common = [stored[key] for key in sorted(shapes.keys() & stored.keys())]
    problems = {
        "missing": [checkpoint.name(key) for key in sorted(shapes.keys() - stored.keys())],
        "unexpected": [checkpoint.name(key) for key in sorted(stored.keys() - shapes.keys() - ignored)],
        "of the wrong shape": [
            f"{checkpoint.name(tensor.key)} is {_shape(tensor.shape)}, the config asks for {_shape(shapes[tensor.key])}"
            for tensor in common
            if tensor.shape != shapes[tensor.key]
        ],
        "not fp32, fp16 or bf16": [
            f"{tensor.key} is {tensor.dtype}" for tensor in common if tensor.dtype not in checkpoint.dtypes
        ],
    }
    parts = [f"{len(names)} {kind}: {_some(names)}" for kind, names in problems.items() if names]
    if parts:
        raise ModelError(
            f"the tensors of {checkpoint.folder} do not fit its {checkpoint.config_name}; {'; '.join(parts)}"
        )


def fill(checkpoint: Checkpoint, targets: Mapping[str, Tensor]) -> None:
    """Copy each named tensor of the checkpoint into its target, cast to the target's dtype and device.

    Targets have the stored shapes (``check_keys``) and may be views of larger parameters. Files are memory-mapped and
    read tensor by tensor, so that one tensor at most is held in addition to the targets. Raises ModelError, naming file
    and key, if a file is damaged or a number is not finite in the target's dtype.
    """
    with torch.no_grad():
        for path in checkpoint.files:
            tensors = [tensor for tensor in checkpoint.tensors if tensor.file == path and tensor.key in targets]
            with checkpoint.open_file(path) as file:
                for tensor in tensors:
                    target = targets[tensor.key]
                    target.copy_(file.get_tensor(tensor.key))
                    # The minimum and maximum of a tensor with a NaN are NaN: one pass, without a second tensor.
                    low, high = torch.aminmax(target)
                    if not bool(torch.isfinite(low) & torch.isfinite(high)):
                        raise ModelError(
                            f"{path}: {checkpoint.name(tensor.key)} holds a number that is not finite in "
                            f"{target.dtype}: "
                            "the file is damaged, or its numbers need a dtype of wider range"
                        )


def stored_equal(checkpoint: Checkpoint, first: str, second: str) -> bool:
    """Return whether two tensors of the checkpoint are equal."""
    where = {tensor.key: tensor.file for tensor in checkpoint.tensors}
    with checkpoint.open_file(where[first]) as one, checkpoint.open_file(where[second]) as other:
        return torch.equal(one.get_tensor(first), other.get_tensor(second))


def _sharded(index: Path) -> tuple[StoredTensor, ...]:
    """Return the tensors that an index names, with shapes and dtypes from the headers of their shards."""
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelError(f"{index}: weight_map is missing or empty")
    by_shard: dict[str, set[str]] = {}
    for key, shard in weight_map.items():
        # A name with a folder in it could escape the checkpoint.
        if not isinstance(shard, str) or Path(shard).name != shard or not shard.endswith(".safetensors"):
            raise ModelError(f"{index}: {key} is placed in {shard!r}, which is not the name of a safetensors file")
        by_shard.setdefault(shard, set()).add(key)
    missing = [shard for shard in sorted(by_shard) if not (index.parent / shard).is_file()]
    if missing:
        raise ModelError(
            f"{index.parent}: {len(missing)} of {len(by_shard)} shards that {INDEX} names are missing: "
            f"{_some(missing)}; fetch them again"
        )
    headers = {shard: stored_tensors(index.parent / shard) for shard in sorted(by_shard)}
    shard_keys = {shard: {tensor.key for tensor in tensors} for shard, tensors in headers.items()}
    for shard, keys in by_shard.items():
        if absent := sorted(keys - shard_keys[shard]):
            raise ModelError(f"{index} places {_some(absent)} in {shard}, where they are not")
    for shard, keys in by_shard.items():
        if unknown := sorted(shard_keys[shard] - keys):
            raise ModelError(f"{index.parent / shard} holds {_some(unknown)}, which {INDEX} does not place there")
    return tuple(tensor for tensors in headers.values() for tensor in tensors)


def stored_tensors(path: Path) -> tuple[StoredTensor, ...]:
    """Read the tensors of a safetensors file from its header. Raises ModelError, naming the file, if it is damaged."""
    with _opened(path) as file:
        slices = ((key, file.get_slice(key)) for key in sorted(file.keys()))
        return tuple(StoredTensor(key, path, tuple(part.get_shape()), part.get_dtype()) for key, part in slices)


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _some(names: list[str]) -> str:
    """Format up to five names, and the number of others."""
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
