"""Fine-tune a Decoder (prefix or causal) by next-token cross-entropy over the answer tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from model.decoder.attention import causal_training_mask, prefix_mask
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.errors import ModelError
from model.training.epochs import Rounds
from model.training.loop import StepLoss, TrainProgress, TrainResult, TrainSettings, run_steps
from model.training.rows import Batch, TokenRow, collate, row_batches, rows_sha256


def answer_logprobs(model: Decoder, batch: Batch, first_copyable_id: int = 0, null_id: int | None = None) -> Tensor:
    """Return the log-probabilities (B, A) of a batch's answer tokens under teacher forcing.

    first_copyable_id, null_id: tokens that a pointer head may copy (``copyable_tokens``).
    """
    total = batch.token_ids.shape[1]
    if model.config.prefix:
        mask: Tensor | None = prefix_mask(batch.prompt_lengths, batch.lengths, total)
    else:
        mask = causal_training_mask(total, batch.token_ids.device)
    hidden = model(batch.token_ids, mask=mask, prompt_lengths=batch.prompt_lengths)  # (B, T, E)
    index = batch.reads[..., None].expand(-1, -1, hidden.shape[-1])
    memory = None
    if model.config.head == "pointer":
        prompt = int(batch.prompt_lengths.max())
        inside = torch.arange(prompt, device=hidden.device)[None] < batch.prompt_lengths[:, None]
        ids = batch.token_ids[:, :prompt]
        copyable = inside & copyable_tokens(ids, first_copyable_id, null_id)
        memory = HeadMemory(hidden[:, :prompt], ids, copyable, batch.targets)
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
    """Train ``model`` in place on ``rows``. The same call resumes from a checkpoint in ``folder``.

    The order of batches depends on rows and settings only, so that a resumed run sees the same batches as an
    uninterrupted one. checkpoint_seconds: time between checkpoints. progress: called after each step. Raises ModelError
    if there are no rows, a row is longer than the context, a token id is outside the vocabulary, or ``run_steps``
    raises it.
    """
    if not rows:
        raise ModelError("there are no training rows")
    longest = max(row.length for row in rows)
    if longest > model.config.max_positions:
        raise ModelError(
            f"a row of {longest} tokens does not fit the context of {model.config.max_positions} positions"
        )
    widest = max(max(*row.prompt, *row.answer) for row in rows)
    if (least := min(min(*row.prompt, *row.answer) for row in rows)) < 0:
        raise ModelError(f"a row has token {least}: token ids cannot be negative")
    if widest >= model.config.vocab_size:
        raise ModelError(
            f"a row has token {widest}, the model has {model.config.vocab_size}: the rows are of another tokenizer"
        )
    sizes = {"tokens": settings.tokens_per_batch, "answer_tokens": settings.answer_tokens_per_batch}
    plan = Rounds(lambda epoch: row_batches(rows, **sizes, seed=settings.seed, epoch=epoch))

    def loss_of(step: int) -> StepLoss:
        batch = collate([rows[i] for i in plan.batch(step)]).to(model.device)
        logprobs = answer_logprobs(model, batch, settings.first_copyable_id, settings.null_id)
        return StepLoss(-(logprobs * batch.weights).sum() / batch.weights.sum(), int(batch.token_ids.numel()))

    return run_steps(
        model,
        loss_of,
        plan.steps(settings),
        settings,
        folder,
        identity={"rows": rows_sha256(rows)},
        checkpoint_seconds=checkpoint_seconds,
        progress=progress,
    )
