"""Fine-tuning by next-token cross-entropy over the answer tokens, for any Decoder (prefix or causal)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from model.attention import prefix_mask
from model.decoder import Decoder
from model.device import bf16_pays, keep_freed_memory, return_freed_memory
from model.errors import ModelError
from model.heads import HeadMemory, copyable_tokens
from model.training.rows import Batch, TokenRow, collate, plan_batches, rows_sha256
from model.training.state import Progress, load_state, save_state, weights_sha256

_TRIM_EVERY = 25


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Everything that determines a run besides its rows and its starting weights."""

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
        for name in ("weight_decay", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ModelError(f"{name} is {value}: it must be a number of at least 0")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}: it must be in [0, 1)")
        if not 0 <= self.warmup < 1:
            raise ModelError(f"warmup is {self.warmup}: a share of the steps, in [0, 1)")


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """One line of progress. loss: nats per answer token, averaged over recent steps. tokens: positions computed."""

    step: int
    steps: int
    loss: float
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What a run came to. resumed_at: the step it went on from, 0 when it began anew."""

    steps: int
    resumed_at: int
    loss: float
    seconds: float


def schedule(step: int, steps: int, warmup: float) -> float:
    """Factor on the learning rate: linear rise over the first ``warmup`` share of steps, then linear fall to 0."""
    rise = max(1, round(steps * warmup))
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def answer_logprobs(model: Decoder, batch: Batch, first_copyable_id: int = 0, null_id: int | None = None) -> Tensor:
    """Log-probabilities (B, A) of the batch's answer tokens under teacher forcing."""
    total = batch.token_ids.shape[1]
    prefix = batch.prompt_lengths if model.config.prefix else torch.zeros_like(batch.prompt_lengths)
    hidden = model(batch.token_ids, mask=prefix_mask(prefix, batch.lengths, total))  # (B, T, E)
    index = batch.reads[..., None].expand(-1, -1, hidden.shape[-1])
    memory = None
    if model.config.head == "pointer":
        prompt = int(batch.prompt_lengths.max())
        inside = torch.arange(prompt, device=hidden.device)[None] < batch.prompt_lengths[:, None]
        ids = batch.token_ids[:, :prompt]
        memory = HeadMemory(hidden[:, :prompt], ids, inside & copyable_tokens(ids, first_copyable_id, null_id))
    return model.target_logprobs(hidden.gather(1, index), batch.targets, memory)


def train(
    model: Decoder,
    rows: Sequence[TokenRow],
    settings: TrainSettings,
    folder: Path,
    *,
    checkpoint_seconds: float = 120.0,
    progress: Callable[[TrainProgress], None] | None = None,
) -> TrainResult:
    """Train ``model`` in place on ``rows``; checkpoints go to ``folder``, from which the same call resumes.

    The order of batches depends on rows and settings alone, so a resumed run sees what an undisturbed one would.
    Raises ModelError when there are no rows, a row does not fit the context, the folder holds another run's
    checkpoint, a token id is none of the model's, or loss or gradient are no longer finite (the last checkpoint is
    kept).
    """
    if not rows:
        raise ModelError("there are no training rows")
    longest = max(row.length for row in rows)
    if longest > model.config.max_positions:
        raise ModelError(
            f"a row of {longest} tokens does not fit the context of {model.config.max_positions} positions"
        )
    widest = max(max(*row.prompt, *row.answer) for row in rows)
    if widest >= model.config.vocab_size:
        raise ModelError(
            f"a row holds token {widest}, the model has {model.config.vocab_size}: another tokenizer's rows"
        )
    keep_freed_memory()
    plan = plan_batches(
        rows,
        tokens=settings.tokens_per_batch,
        answer_tokens=settings.answer_tokens_per_batch,
        epochs=settings.epochs,
        seed=settings.seed,
    )
    steps = min(len(plan), settings.max_steps or len(plan))
    learn = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in learn if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in learn if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
    )
    identity: dict[str, object] = {
        "settings": asdict(settings),
        "rows": rows_sha256(rows),
        "steps": steps,
        "starting weights": weights_sha256(model),
    }
    folder.mkdir(parents=True, exist_ok=True)
    device = model.device
    # Measured once a run: a resumed one must not go on in another precision because the machine is busy.
    found = load_state(folder, model, optimizer, identity) or Progress(0, 0.0, math.nan, bf16_pays(device))
    started = saved = time.monotonic()
    loss_average, tokens = found.loss, 0
    model.train()
    for step in range(found.step, steps):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * schedule(step, steps, settings.warmup)
        batch = collate([rows[i] for i in plan[step]]).to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=found.bf16):
            logprobs = answer_logprobs(model, batch, settings.first_copyable_id, settings.null_id)
        loss = -(logprobs * batch.weights).sum() / batch.weights.sum()
        value = float(loss.detach())
        if not math.isfinite(value):
            raise ModelError(
                f"the loss became {value} at step {step}: lower --learning-rate; {folder} keeps a checkpoint"
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own stub leaves it untyped
        norm = float(torch.nn.utils.clip_grad_norm_(learn, settings.clip))
        if not math.isfinite(norm):  # found before it reaches the weights, and with them the next checkpoint
            raise ModelError(
                f"the gradient became {norm} at step {step}: lower --learning-rate; {folder} keeps a checkpoint"
            )
        optimizer.step()
        if step % _TRIM_EVERY == 0:
            return_freed_memory()
        tokens += int(batch.token_ids.numel())
        loss_average = value if math.isnan(loss_average) else 0.98 * loss_average + 0.02 * value
        now = time.monotonic()
        if progress is not None:
            progress(
                TrainProgress(step + 1, steps, loss_average, found.seconds + now - started, tokens / (now - started))
            )
        if now - saved > checkpoint_seconds or step + 1 == steps:
            stand = Progress(step + 1, found.seconds + now - started, loss_average, found.bf16)
            save_state(folder, model, optimizer, stand, identity)
            saved = now
    model.eval()
    return TrainResult(steps, found.step, loss_average, found.seconds + time.monotonic() - started)
