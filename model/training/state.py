"""Save and load checkpoints of a training run, as safetensors and JSON. The last valid checkpoint is kept."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from model.checkpoints.files import sha256_of, write_json, write_tensors
from model.errors import ModelError
from model.training.collapse import FirstLosses


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a run at a checkpoint.

    step: number of steps done. seconds: time spent. loss: mean of the recent losses. bf16: whether the run computes in
    bf16 autocast. schedules: pairs (first step, planned number of steps), of which the last one applies. first: first
    losses of the run; None for a checkpoint of an earlier version.
    """

    step: int
    seconds: float
    loss: float
    bf16: bool
    schedules: tuple[tuple[int, int], ...] = ()
    first: FirstLosses | None = None


_LENGTHS = ("epochs", "max_steps", "seconds")  # settings that may change when a run is resumed


def _without_length(identity: dict[str, object]) -> dict[str, object]:
    """Return the part of an identity that a checkpoint must agree with: all except the length of the run."""
    kept = {name: value for name, value in identity.items() if name != "steps"}
    settings = kept.get("settings")
    if isinstance(settings, dict):
        kept["settings"] = {name: value for name, value in settings.items() if name not in _LENGTHS}
    return kept


def weights_sha256(model: nn.Module) -> str:
    """Return the SHA-256 (hex) of the current trainable weights, which identifies the starting point of a run."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            digest.update(name.encode())
            digest.update(parameter.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_state(
    folder: Path, model: nn.Module, optimizer: torch.optim.AdamW, progress: Progress, identity: dict[str, object]
) -> None:
    """Write the checkpoint step-N/ (trainable weights, both moments, progress), then remove the previous one.

    Raises ModelError if it cannot be written; the previous one is then kept.
    """
    target = folder / f"step-{progress.step:07d}"
    aside = folder / f".{target.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        tensors: dict[str, Tensor] = {}
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue
            tensors[f"weight.{name}"] = parameter
            for moment in ("exp_avg", "exp_avg_sq"):
                if parameter in optimizer.state:
                    tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment]
        write_tensors(aside / "state.safetensors", tensors)
        write_json(
            aside / "state.json",
            {
                "identity": identity,
                "step": progress.step,
                "seconds": progress.seconds,
                "loss": progress.loss,
                "bf16": progress.bf16,
                "schedules": progress.schedules,
                "first": None if progress.first is None else [progress.first.total, progress.first.count],
                "sha256": sha256_of(aside / "state.safetensors"),
            },
        )
        if target.exists():
            shutil.rmtree(target)
        aside.rename(target)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise ModelError(
            f"the checkpoint {target} could not be written ({error}); the one before it is kept"
        ) from error
    # Remove older checkpoints, and partial ones of killed runs.
    for old in (*folder.glob("step-*"), *folder.glob(".step-*.part")):
        if old != target:
            shutil.rmtree(old, ignore_errors=True)


def load_state(
    folder: Path, model: nn.Module, optimizer: torch.optim.AdamW, identity: dict[str, object]
) -> Progress | None:
    """Restore the newest intact checkpoint into model and optimizer, and return its progress; None if there is none.

    The number of steps may differ, because a run may be shortened or lengthened. Raises ModelError if the checkpoint
    belongs to other rows, settings or shapes.
    """
    for path in sorted(folder.glob("step-*"), reverse=True):
        try:
            facts = json.loads((path / "state.json").read_text("utf-8"))
            if sha256_of(path / "state.safetensors") != facts["sha256"]:
                continue
            tensors = load_file(path / "state.safetensors")
            theirs, step = dict(facts["identity"]), int(facts["step"])
            schedules = tuple((int(a), int(b)) for a, b in facts.get("schedules") or ((0, theirs.get("steps", 0)),))
            first = FirstLosses(float(stored[0]), int(stored[1])) if (stored := facts.get("first")) else None
            progress = Progress(
                step, float(facts["seconds"]), float(facts["loss"]), bool(facts["bf16"]), schedules, first
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, SafetensorError):
            continue
        before, now = _without_length(theirs), _without_length(identity)
        if before != now:
            changed = sorted(k for k in {*now, *before} if before.get(k) != now.get(k))
            raise ModelError(
                f"{path} was trained with other {', '.join(changed)}: choose another folder or remove that one",
                parameter="output",
            )
        learning = {f"weight.{n}": p.shape for n, p in model.named_parameters() if p.requires_grad}
        if learning != {n: t.shape for n, t in tensors.items() if n.startswith("weight.")}:
            raise ModelError(
                f"{path} belongs to a model of other shapes: choose another folder or remove that one",
                parameter="output",
            )
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if not parameter.requires_grad:
                    continue
                parameter.copy_(tensors[f"weight.{name}"])
                if f"exp_avg.{name}" in tensors:
                    optimizer.state[parameter] = {
                        "step": torch.tensor(float(step)),
                        "exp_avg": tensors[f"exp_avg.{name}"].to(parameter.device),
                        "exp_avg_sq": tensors[f"exp_avg_sq.{name}"].to(parameter.device),
                    }
        return progress
    return None
