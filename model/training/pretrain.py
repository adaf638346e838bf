"""Pretrain a causal Decoder to predict the next token in windows of a token stream.

The optimizer is AdamW with a cosine schedule. In a window documents follow each other, separated by the end token, and
attention crosses their borders (Radford et al. 2019).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from model.decoder.attention import causal_training_mask
from model.decoder.decoder import Decoder
from model.errors import ModelError
from model.hardware.device import bf16_pays
from model.hardware.freed_memory import keep_freed_memory
from model.training.failures import machine_failures
from model.training.pretrain_corpus import TokenStream
from model.training.pretrain_rate import matrix_rate
from model.training.pretrain_shape import training_flops_per_token
from model.training.pretrain_state import load_checkpoint, save_checkpoint
from model.training.pretrain_validation import Validation, validate
from model.training.pretrain_windows import WindowPlan
from model.training.state import Progress, weights_sha256

_RECENT = 20


@dataclass(frozen=True, slots=True)
class PretrainSettings:
    """Settings of a pretraining run. Together with the corpus and the starting weights they determine it.

    context: tokens of a window. warmup: share of the steps in which the learning rate rises. floor: final learning
    rate, as a share of ``learning_rate``. clip: maximum norm of the gradient. tokens_per_step: predicted tokens of one
    step, in complete windows. tokens_at_once: predicted tokens of one forward and backward pass; a step accumulates
    gradients over passes. It limits memory (the logits are tokens_at_once x V) and changes the result by rounding only.
    epochs: may be a fraction. max_steps: ends the run and the schedule earlier; None for no limit. Raises ModelError
    for an invalid value.
    """

    context: int
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.1
    warmup: float = 0.02
    floor: float = 0.1
    clip: float = 1.0
    tokens_per_step: int = 65536
    tokens_at_once: int = 16384
    epochs: float = 4.0
    max_steps: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("context", "tokens_per_step", "tokens_at_once", "max_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"{name} is {value}: it must be at least 1")
        for name in ("learning_rate", "epochs", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ModelError(f"{name} is {value}: it must be a positive number")
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise ModelError(f"weight_decay is {self.weight_decay}: it must be a number of at least 0")
        for name in ("beta1", "beta2", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}: it must be in [0, 1)")
        if not 0 <= self.floor <= 1:
            raise ModelError(f"floor is {self.floor}: it must be a share of the learning rate, in [0, 1]")

    @property
    def windows_per_step(self) -> int:
        """Number of windows of one step, at least one."""
        return max(1, self.tokens_per_step // self.context)

    @property
    def windows_at_once(self) -> int:
        """Number of windows of one forward and backward pass, at least one."""
        return max(1, self.tokens_at_once // self.context)


@dataclass(frozen=True, slots=True)
class PretrainProgress:
    """A progress report.

    step: number of steps done. steps: total number of steps. loss: nats per token, averaged over about 20 steps.
    seconds: duration of all calls. tokens_per_second: rate in this call. matrix_share: floating-point operations per
    second, relative to those of one large matrix product on this device. validation: result after this step, or None.
    """

    step: int
    steps: int
    loss: float
    seconds: float
    tokens_per_second: float
    matrix_share: float
    validation: Validation | None


@dataclass(frozen=True, slots=True)
class PretrainResult:
    """Result of a run.

    step: number of steps done; less than ``steps`` if the run was stopped. resumed_at: step from which this call
    resumed; 0 for a new run. loss: recent mean loss in nats per token. seconds: duration of all calls.
    """

    step: int
    steps: int
    resumed_at: int
    loss: float
    seconds: float
    bf16: bool

    @property
    def finished(self) -> bool:
        """Whether the schedule is complete."""
        return self.step == self.steps


@dataclass(frozen=True, slots=True)
class ValidationPlan:
    """Settings of the validation during a run.

    token_bytes: number of bytes of each token id. end_id: id of the end token. tokens: maximum number of tokens.
    times: number of validations in a run.
    """

    stream: TokenStream
    token_bytes: Sequence[int]
    end_id: int
    tokens: int
    times: int = 10


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """Settings of the checkpoints of a run.

    seconds: time between checkpoints. part_bytes: maximum size of a file (see ``save_checkpoint``); None for one file.
    """

    seconds: float = 120.0
    part_bytes: int | None = None


def cosine(step: int, steps: int, warmup: float, floor: float) -> float:
    """Return the factor on the learning rate: linear rise over a share of the steps, then half a cosine to ``floor``.

    The cosine is f + (1 - f) (1 + cos(pi t)) / 2 with t from 0 to 1 (Loshchilov and Hutter 2017, eq. 5, one period).
    """
    rise = max(1, round(steps * warmup))
    if step < rise:
        return (step + 1) / rise
    done = (step - rise) / max(1, steps - rise)
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2


def window_loss(model: Decoder, windows: Tensor) -> Tensor:
    """Return the mean of -log p over all tokens after the first, of windows (B, T + 1)."""
    inputs, targets = windows[:, :-1], windows[:, 1:]
    mask = causal_training_mask(inputs.shape[1], windows.device)
    return -model.target_logprobs(model(inputs, mask=mask), targets).mean()


def pretrain(
    model: Decoder,
    stream: TokenStream,
    settings: PretrainSettings,
    folder: Path,
    *,
    corpus: str,
    validation: ValidationPlan | None = None,
    checkpoints: CheckpointOptions | None = None,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[PretrainProgress], None] | None = None,
) -> PretrainResult:
    """Train ``model`` in place on ``stream``. The same call resumes from a checkpoint in ``folder``.

    corpus: identifies the content of the stream, which a checkpoint must agree with. stop: called after each step; if
    it returns True, a checkpoint is written and the call returns. A checkpoint holds the weights and both moments in
    fp32, and the data of a step depends on its number only. A resumed run therefore ends with the same bits as an
    uninterrupted one on the same machine with the same number of threads.

    Raises ModelError if the stream is shorter than a window, the folder holds another run's checkpoint, the disk is
    full, the GPU fails, or the loss or the gradient is not finite. The last checkpoint is kept.
    """
    if settings.context > model.config.max_positions:
        raise ModelError(f"windows of {settings.context} tokens do not fit the {model.config.max_positions} positions")
    plan = WindowPlan(stream, context=settings.context, batch=settings.windows_per_step, seed=settings.seed)
    steps = min(plan.steps(settings.epochs), settings.max_steps or plan.steps(settings.epochs))
    checkpoints = checkpoints or CheckpointOptions()
    keep_freed_memory()
    device = model.device
    identity: dict[str, object] = {
        "settings": asdict(settings),
        "corpus": corpus,
        "steps": steps,
        "starting weights": weights_sha256(model),
    }
    optimizer = _adamw(model, settings)
    folder.mkdir(parents=True, exist_ok=True)
    # The precision is decided once per run, because a resumed run must not continue in another one.
    found = load_checkpoint(folder, model, optimizer, identity) or Progress(0, 0.0, math.nan, bf16_pays(device))
    peak = matrix_rate(device, bf16=found.bf16)
    flops = training_flops_per_token(model.config, settings.context)
    every = max(1, round(steps / validation.times)) if validation else 0
    tokens_per_step = settings.windows_per_step * settings.context
    started = saved_at = time.monotonic()
    saved = found.step
    loss_average, validating = found.loss, 0.0
    model.train()
    step = found.step
    while step < steps:
        with machine_failures(saved, folder):
            value = _step(model, optimizer, plan, step, steps, settings, found.bf16, folder)
            step += 1
            loss_average = value if step == 1 else loss_average + (value - loss_average) / min(step, _RECENT)
            # Validation counts for the duration of the run, but not for the rate.
            rate = (step - found.step) * tokens_per_step / max(time.monotonic() - started - validating, 1e-9)
            measured = None
            if validation is not None and (step % every == 0 or step == steps):
                begun = time.monotonic()
                measured = validate(
                    model,
                    validation.stream,
                    validation.token_bytes,
                    context=settings.context,
                    end_id=validation.end_id,
                    tokens=validation.tokens,
                    bf16=found.bf16,
                    windows_at_once=settings.windows_at_once,
                )
                validating += time.monotonic() - begun
            now = time.monotonic()
            seconds = found.seconds + now - started
            if progress is not None:
                progress(PretrainProgress(step, steps, loss_average, seconds, rate, rate * flops / peak, measured))
            stopping = stop()
            if now - saved_at > checkpoints.seconds or step == steps or stopping:
                state = Progress(step, seconds, loss_average, found.bf16)
                save_checkpoint(folder, model, optimizer, state, identity, checkpoints.part_bytes)
                saved, saved_at = step, now
            if stopping:
                break
    model.eval()
    total = found.seconds + time.monotonic() - started
    return PretrainResult(step, steps, found.step, loss_average, total, found.bf16)


def _step(
    model: Decoder,
    optimizer: torch.optim.AdamW,
    plan: WindowPlan,
    step: int,
    steps: int,
    settings: PretrainSettings,
    bf16: bool,
    folder: Path,
) -> float:
    """Run one step and return the loss in nats per token. Raises ModelError if the loss or gradient is not finite."""
    for group in optimizer.param_groups:
        group["lr"] = settings.learning_rate * cosine(step, steps, settings.warmup, settings.floor)
    optimizer.zero_grad(set_to_none=True)
    windows = torch.from_numpy(plan.batch(step)).to(model.device)
    value = torch.zeros((), dtype=torch.float64, device=model.device)
    for part in torch.split(windows, settings.windows_at_once):
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bf16):
            loss = window_loss(model, part) * (len(part) / len(windows))
        loss.backward()  # type: ignore[no-untyped-call]  # untyped in torch's stub
        value += loss.detach()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    for name, number in (("loss", float(value)), ("gradient", float(norm))):
        if not math.isfinite(number):
            raise ModelError(
                f"the {name} became {number} at step {step}: lower the learning rate; {folder} keeps a checkpoint",
                parameter="learning_rate",
            )
    optimizer.step()
    return float(value)


def _adamw(model: Decoder, settings: PretrainSettings) -> torch.optim.AdamW:
    """Create AdamW with weight decay on matrices only."""
    learn = list(model.parameters())
    return torch.optim.AdamW(
        [
            {"params": [p for p in learn if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in learn if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
    )
