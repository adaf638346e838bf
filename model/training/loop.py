"""The training loop: schedule, precision, clipping, checkpoints and resuming, for any loss."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from model.errors import ModelError
from model.hardware.device import bf16_pays
from model.hardware.freed_memory import keep_freed_memory, return_freed_memory
from model.training.collapse import FirstLosses, has_collapsed
from model.training.failures import machine_failures
from model.training.state import Progress, load_state, save_state, weights_sha256

_TRIM_EVERY = 25


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Settings of a run. Together with the rows and the starting weights they determine it.

    warmup: share of the steps in which the learning rate rises. clip: maximum norm of the gradient. tokens_per_batch:
    maximum positions of a batch, including padding. answer_tokens_per_batch: maximum answer positions of a batch.
    max_steps: maximum number of steps; None for no limit. seconds: duration of the run, including checkpoints; the
    learning rate then depends on the time, ``epochs`` is ignored, and the run is not exactly reproducible. None ends
    the run after ``epochs``. first_copyable_id, null_id: tokens that a reader may copy (``copyable_tokens``). Raises
    ModelError for an invalid value.
    """

    learning_rate: float = 2e-4
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip: float = 1.0
    tokens_per_batch: int = 8000
    answer_tokens_per_batch: int = 1500
    epochs: int = 1
    max_steps: int | None = None
    seconds: float | None = None
    first_copyable_id: int = 0
    null_id: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ModelError(f"learning rate is {self.learning_rate}: it must be positive")
        for name in ("epochs", "tokens_per_batch", "answer_tokens_per_batch", "max_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"{name} is {value}: it must be at least 1")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ModelError(f"seconds is {self.seconds}: the time of a run must be positive")
        for name in ("weight_decay", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ModelError(f"{name} is {value}: it must be a number of at least 0")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}: it must be in [0, 1)")
        if not 0 <= self.warmup < 1:
            raise ModelError(f"warmup is {self.warmup}: it must be a share of the steps, in [0, 1)")


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """A progress report.

    step: number of steps done. steps: total number of steps; an estimate if the time ends the run. loss: moving average
    in nats per answer token. seconds: duration so far. tokens_per_second: positions computed, including padding. began:
    mean loss of the first steps; None before they are done.
    """

    step: int
    steps: int
    loss: float
    seconds: float
    tokens_per_second: float
    began: float | None = None

    @property
    def collapsed(self) -> bool:
        """Whether the loss is so far above its initial value that the run has collapsed."""
        return has_collapsed(self.step, self.loss, self.began)


@dataclass(frozen=True, slots=True)
class TrainResult:
    """Result of a run.

    resumed_at: step from which it was resumed; 0 for a new run. loss: moving average at the end. seconds: duration.
    schedules: pairs (first step, planned number of steps), several if the run was shortened or lengthened. began: mean
    loss of the first steps; None for a shorter run.
    """

    steps: int
    resumed_at: int
    loss: float
    seconds: float
    schedules: tuple[tuple[int, int], ...] = ()
    began: float | None = None

    @property
    def collapsed(self) -> bool:
        """Whether the run ended with a loss far above its initial value."""
        return has_collapsed(self.steps, self.loss, self.began)


def schedule(step: int, steps: int, warmup: float) -> float:
    """Return the factor on the learning rate: linear warmup over a share of the steps, then linear decay to 0."""
    rise = max(1, round(steps * warmup))
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def clock_schedule(spent: float, warmup: float) -> float:
    """Return the factor on the learning rate as in ``schedule``, for a run that the time ends.

    spent: share of the time spent, in [0, 1]. The first step always has a positive rate.
    """
    if spent < warmup:
        return max(spent / warmup, 0.01)
    return (1 - spent) / (1 - warmup)


@dataclass(frozen=True, slots=True)
class StepLoss:
    """Loss of a step. loss: scalar to minimise. tokens: positions computed for it, including padding."""

    loss: Tensor
    tokens: int


def run_steps(
    model: nn.Module,
    loss_of: Callable[[int], StepLoss],
    steps: int,
    settings: TrainSettings,
    folder: Path,
    *,
    identity: dict[str, object],
    checkpoint_seconds: float = 120.0,
    progress: Callable[[TrainProgress], None] | None = None,
) -> TrainResult:
    """Minimise ``loss_of(step)`` for step 0, 1 ... with AdamW. The same call resumes from a checkpoint in ``folder``.

    loss_of: computes the loss of a step; it is called under autocast. steps: number of steps. If it differs from that
    of the interrupted call, the steps done are kept and the schedule ends at the new number. If ``settings.seconds``
    ends the run, ``steps`` is an additional limit, and the time between interrupted calls does not count. identity:
    values that a checkpoint must agree with, in addition to settings and starting weights. checkpoint_seconds: time
    between checkpoints. progress: called after each step.

    Raises ModelError if the folder holds another run's checkpoint, the loss or the gradient is not finite, the GPU is
    lost, memory runs out, or a checkpoint cannot be written. The last checkpoint is kept.
    """
    keep_freed_memory()
    device = next(model.parameters()).device
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = _optimizer(trainable, settings)
    record: dict[str, object] = {
        "settings": asdict(settings),
        **identity,
        "steps": steps,
        "starting weights": weights_sha256(model),
    }
    folder.mkdir(parents=True, exist_ok=True)
    # The precision is decided once per run, because a resumed run must not continue in another one.
    found = load_state(folder, model, optimizer, record) or Progress(
        0, 0.0, math.nan, bf16_pays(device), first=FirstLosses()
    )
    limit = settings.seconds
    schedules = found.schedules or ((0, steps),)
    if limit is None and schedules[-1][1] != steps:
        schedules = (*schedules, (found.step, steps))
    started = saved = time.monotonic()
    loss_average, tokens, kept, first, done = found.loss, 0, found.step, found.first, found.step
    model.train()
    for step in range(found.step, steps):
        spent = found.seconds + time.monotonic() - started
        if limit is not None and step and spent >= limit:
            break
        factor = schedule(step, steps, settings.warmup) if limit is None else _by_clock(spent, limit, settings)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * factor
        with machine_failures(kept, folder):
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=found.bf16):
                this = loss_of(step)
            value = _descend(this.loss, trainable, optimizer, settings.clip, f"at step {step}", folder)
        if step % _TRIM_EVERY == 0:
            return_freed_memory()
        done = step + 1
        tokens += this.tokens
        loss_average = value if math.isnan(loss_average) else 0.98 * loss_average + 0.02 * value
        first = first and first.and_then(value)
        now = time.monotonic()
        seconds = found.seconds + now - started
        if progress is not None:
            planned = steps if limit is None else max(done, min(steps, round(min(done * limit / seconds, sys.maxsize))))
            speed = tokens / (now - started)
            progress(TrainProgress(done, planned, loss_average, seconds, speed, first.mean if first else None))
        # Decided after the progress callback, which may take time too.
        over = limit is not None and found.seconds + time.monotonic() - started >= limit
        if now - saved > checkpoint_seconds or done == steps or over:
            if limit is not None:
                schedules = ((0, done),)
            state = Progress(done, seconds, loss_average, found.bf16, schedules, first)
            with machine_failures(kept, folder):  # reads weights from the device
                save_state(folder, model, optimizer, state, record)
            saved, kept = now, done
    model.eval()
    done = max(steps, done) if limit is None else done
    seconds = found.seconds + time.monotonic() - started
    return TrainResult(done, found.step, loss_average, seconds, schedules, first.mean if first else None)


def _by_clock(spent: float, limit: float, settings: TrainSettings) -> float:
    return clock_schedule(min(1.0, spent / limit), settings.warmup)


def _optimizer(trainable: Sequence[nn.Parameter], settings: TrainSettings) -> torch.optim.AdamW:
    """Create AdamW without weight decay on biases and norms."""
    return torch.optim.AdamW(
        [
            {"params": [p for p in trainable if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in trainable if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
    )


def _descend(
    loss: Tensor, trainable: Sequence[nn.Parameter], optimizer: torch.optim.AdamW, clip: float, where: str, folder: Path
) -> float:
    """Run one optimizer step and return the loss. Raises ModelError if the loss or the gradient is not finite."""
    value = float(loss.detach())
    if not math.isfinite(value):
        raise ModelError(
            f"the loss became {value} {where}: lower the learning rate; {folder} keeps a checkpoint",
            parameter="learning_rate",
        )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]  # untyped in torch's stub
    norm = float(torch.nn.utils.clip_grad_norm_(trainable, clip))
    if not math.isfinite(norm):  # checked before it reaches the weights and the next checkpoint
        raise ModelError(
            f"the gradient became {norm} {where}: lower the learning rate; {folder} keeps a checkpoint",
            parameter="learning_rate",
        )
    optimizer.step()
    return value
