"""Save and load checkpoints of pretraining, in one file (model.training.state) or split into small parts.

The parts joined are the same file, byte for byte. A tensor may be longer than a part.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from torch import nn

from model.checkpoints.files import write_atomic
from model.errors import ModelError
from model.training.state import Progress, load_state, save_state

_TENSORS, _FACTS = "state.safetensors", "state.json"
_STAGE = "joined"


def save_checkpoint(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.AdamW,
    progress: Progress,
    identity: dict[str, object],
    part_bytes: int | None = None,
) -> None:
    """Save a checkpoint as ``save_state`` does.

    part_bytes: maximum size of a file, which splits state.safetensors into state.safetensors.000, .001, ...; None
    writes one file. Raises ModelError if the disk is full; the previous checkpoint is then kept.
    """
    if part_bytes is None:
        save_state(folder, model, optimizer, progress, identity)
        return
    stage = folder / _STAGE
    target = folder / f"step-{progress.step:07d}"
    aside = folder / f".{target.name}.part"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        save_state(stage, model, optimizer, progress, identity)
        aside.mkdir()
        source = stage / target.name / _TENSORS
        with source.open("rb") as file:
            number = 0
            while part := file.read(part_bytes):
                write_atomic(aside / f"{_TENSORS}.{number:03d}", part)
                number += 1
        # state.json contains the SHA-256 of the joined parts.
        (stage / target.name / _FACTS).replace(aside / _FACTS)
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise ModelError(
            f"the checkpoint {target} could not be written ({error}); the one before it is kept"
        ) from error
    except ModelError as error:  # the message names a temporary location that no longer exists
        raise ModelError(str(error).replace(str(stage), str(folder))) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    for old in (*folder.glob("step-*"), *folder.glob(".step-*.part")):
        if old != target:
            shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.AdamW, identity: dict[str, object]
) -> Progress | None:
    """Restore the newest intact checkpoint, in one file or in parts, as ``load_state`` does; None if there is none.

    Raises ModelError if it belongs to another run or its parts cannot be joined.
    """
    stage = folder / _STAGE
    shutil.rmtree(stage, ignore_errors=True)  # left by a run that was killed while it joined parts
    for path in sorted(folder.glob("step-*"), reverse=True):
        if (path / _TENSORS).is_file():
            return load_state(folder, model, optimizer, identity)
        parts = sorted(path.glob(f"{_TENSORS}.*"))
        if not parts or not (path / _FACTS).is_file():
            continue
        try:
            joined = stage / path.name
            joined.mkdir(parents=True)
            with (joined / _TENSORS).open("wb") as file:
                for part in parts:
                    file.write(part.read_bytes())
            shutil.copyfile(path / _FACTS, joined / _FACTS)
            found = load_state(stage, model, optimizer, identity)
        except OSError as error:
            raise ModelError(f"the parts of {path} could not be joined: {error}") from error
        except ModelError as error:  # the message names a temporary location that no longer exists
            raise ModelError(str(error).replace(str(stage), str(folder))) from error
        finally:
            shutil.rmtree(stage, ignore_errors=True)
        if found is not None:
            return found
    return None
