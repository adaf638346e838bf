"""Train a support encoder on the cross-entropy of each claim in its best window and of its labelled words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from model.errors import ModelError
from model.training.epochs import Rounds
from model.training.loop import StepLoss, TrainProgress, TrainResult, TrainSettings, run_steps
from model.training.pair_rows import UNKNOWN, PairBatch, PairRow, collate_pairs, pair_batches, pair_rows_sha256
from model.verifier.encoder import SupportEncoder

WORD_WEIGHT = 0.5


def pair_loss(model: SupportEncoder, batch: PairBatch) -> Tensor:
    """Return the loss of a batch: binary cross-entropy of the claims, plus WORD_WEIGHT times that of their words.

    A claim's logit is its maximum over windows, as at inference (multiple-instance learning, Dietterich et al. 1997).
    If a claim has a target from teachers, the cross-entropy uses it (Hinton et al. 2015, section 2, at temperature 1).
    Words are judged only in the window with the maximum, because in other windows even the words of a supported claim
    do not fit.
    """
    out = model(batch.token_ids)
    readings = out.claim_logits(batch.reading_index, batch.window)  # (R,)
    best = torch.full_like(batch.supported, -torch.inf).scatter_reduce(0, batch.claim, readings, "amax")  # (C,)
    claims = F.binary_cross_entropy_with_logits(best, batch.supported, reduction="none")
    loss = (claims * batch.weights).sum() / batch.weights.sum()
    decides = readings.detach() == best.detach()[batch.claim]  # (R,)
    known = (batch.wrong != UNKNOWN) & (batch.reading_index >= 0) & out.words.isfinite()
    known &= decides[batch.reading_index.clamp(min=0)]
    if bool(known.any()):
        words = F.binary_cross_entropy_with_logits(out.words[known], batch.wrong[known].float())
        loss = loss + WORD_WEIGHT * words
    return loss


def train_pairs(
    model: SupportEncoder,
    rows: Sequence[PairRow],
    settings: TrainSettings,
    folder: Path,
    *,
    checkpoint_seconds: float = 120.0,
    progress: Callable[[TrainProgress], None] | None = None,
) -> TrainResult:
    """Train ``model`` in place on ``rows``. The same call resumes from a checkpoint in ``folder``.

    checkpoint_seconds: time between checkpoints. progress: called after each step. Raises ModelError if there are no
    rows, a window is longer than the context, a token id is outside the vocabulary, or ``run_steps`` raises it.
    """
    if not rows:
        raise ModelError("there are no training rows")
    longest = max(row.longest for row in rows)
    if longest > model.config.max_positions:
        raise ModelError(f"a window of {longest} tokens does not fit the {model.config.max_positions} positions")
    widest = max(max(window) for row in rows for window in row.windows)
    if (least := min(min(window) for row in rows for window in row.windows)) < 0:
        raise ModelError(f"a row has token {least}: token ids cannot be negative")
    if widest >= model.config.vocab_size:
        raise ModelError(
            f"a row has token {widest}, the model has {model.config.vocab_size}: the rows are of another tokenizer"
        )
    tokens, seed = settings.tokens_per_batch, settings.seed
    plan = Rounds(lambda epoch: pair_batches(rows, tokens=tokens, seed=seed, epoch=epoch))
    identity: dict[str, object] = {"rows": pair_rows_sha256(rows)}

    def loss_of(step: int) -> StepLoss:
        batch = collate_pairs([rows[i] for i in plan.batch(step)]).to(model.device)
        return StepLoss(pair_loss(model, batch), int(batch.token_ids.numel()))

    return run_steps(
        model,
        loss_of,
        plan.steps(settings),
        settings,
        folder,
        identity=identity,
        checkpoint_seconds=checkpoint_seconds,
        progress=progress,
    )
