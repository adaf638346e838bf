"""Fit the decline head of a trained reader: read the rows once, then fit a small network on their hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.decoder.attention import prefix_mask
from model.decoder.decline_head import Decline
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.errors import ModelError
from model.training.rows import TokenRow, collate, row_batches

UNITS = 32
_ROUNDS, _LEAST_STEPS, _BATCH, _RATE, _DECAY, _DROPPED = 20, 300, 256, 2e-3, 0.3, 0.3


@dataclass(frozen=True, slots=True)
class FirstStates:
    """Inputs and targets for fitting a decline head.

    states: (N, 2E), first state of each row's answer, then the state of the no-answer marker (see Decline). pointed:
    (N), the pointer's log-probability of declining. declines: (N), bool, whether the row should be declined.
    """

    states: Tensor
    pointed: Tensor
    declines: Tensor


Correction = Literal["fitted", "begun", "none"]


@dataclass(frozen=True, slots=True)
class DeclineFit:
    """Result of fitting a decline head.

    rows: number of rows used for fitting. held: number of held-out rows, on which the losses are measured. The losses
    are in nats per row. loss_before: of the pointer with the best scale and shift, without hidden states. loss_after:
    of the fitted network. loss_begun: of the network that the reader had before its training; None if it had none.
    used: the one of these three with the lowest loss.
    """

    rows: int
    held: int
    loss_before: float
    loss_after: float
    loss_begun: float | None
    used: Correction


def first_states(
    model: Decoder,
    rows: Sequence[TokenRow],
    *,
    null_id: int,
    first_copyable_id: int,
    tokens_per_batch: int = 8000,
    bf16: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> FirstStates:
    """Return the hidden states of the rows' prompts. A row should be declined if its answer starts with ``null_id``.

    bf16: whether to compute in half precision, as in training. progress: called with (rows read, total).
    """
    first_rows = [TokenRow(row.prompt, row.answer[:1]) for row in rows]
    size = model.config.hidden_size
    states, pointed = torch.zeros(len(rows), 2 * size), torch.zeros(len(rows))
    done = 0
    with torch.inference_mode(), torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bf16):
        for batch in row_batches(first_rows, tokens=tokens_per_batch, answer_tokens=tokens_per_batch, seed=0, epoch=0):
            found = collate([first_rows[i] for i in batch]).to(model.device)
            ids = found.token_ids
            mask = prefix_mask(found.prompt_lengths, found.lengths, ids.shape[1])
            hidden = model(ids, mask=mask, prompt_lengths=found.prompt_lengths)  # (B, T, E)
            first = hidden.gather(1, found.reads[..., None].expand(-1, -1, size))  # (B, 1, E)
            inside = torch.arange(ids.shape[1], device=ids.device)[None] < found.prompt_lengths[:, None]
            memory = HeadMemory(hidden, ids, inside & copyable_tokens(ids, first_copyable_id, null_id))
            null = torch.full_like(found.targets, null_id)
            pointed[list(batch)] = model.target_logprobs(first, null, memory)[:, 0].cpu()
            states[list(batch)] = torch.cat((first[:, 0], hidden[:, 0]), dim=-1).float().cpu()
            done += len(batch)
            if progress is not None:
                progress(done, len(rows))
    return FirstStates(states.clone(), pointed.clone(), torch.tensor([row.answer[0] == null_id for row in rows]))


def fit_decline(
    train: FirstStates, held_out: FirstStates, *, seed: int, units: int = UNITS, begun: Decline | None = None
) -> tuple[Decline, DeclineFit]:
    """Fit a decline head on ``train`` by cross-entropy (AdamW, dropout), and evaluate it on ``held_out``.

    held_out: only determines ``DeclineFit.used``. begun: decline head of the reader before its training, which may be
    better, because the rows that the reader was trained on say less about declining than unseen rows; None if it had
    none. On one machine the same states and seed give the same network. Raises ModelError if one of the sets lacks rows
    to answer or rows to decline.
    """
    for name, found in (("train", train), ("held", held_out)):
        if not 0 < int(found.declines.sum()) < len(found.declines):
            raise ModelError(f"{name}: fitting the probability of declining needs rows to answer and rows to decline")
    mean = train.states.mean(0)
    spread = train.states.std(0, correction=0).clamp_min(1e-3)
    scaled = (train.states - mean) / spread
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        plain, decline = _plain(train), Decline(train.states.shape[1] // 2, units)
        with torch.no_grad():  # start from the best fit without hidden states
            decline.scale.copy_(plain.scale)
            decline.outer.bias.copy_(plain.outer.bias)
        _train(decline, scaled, train.pointed, train.declines.float())
    with torch.no_grad():  # the standardisation is folded into the first layer
        decline.inner.weight.div_(spread)
        decline.inner.bias.sub_(decline.inner.weight @ mean)
        for parameter in decline.parameters():  # rounded as the file stores it
            parameter.copy_(parameter.half().float())
        after = _loss(decline.log_odds(held_out.states, held_out.pointed), held_out)
        before = _loss(plain.log_odds(held_out.states, held_out.pointed), held_out)
        earlier = None if begun is None else _loss(begun.log_odds(held_out.states, held_out.pointed), held_out)
    decline.requires_grad_(False).eval()
    losses: dict[Correction, float] = {"none": before, "fitted": after}
    if earlier is not None:
        losses["begun"] = earlier
    used = min(losses, key=lambda name: losses[name])
    return decline, DeclineFit(len(train.declines), len(held_out.declines), before, after, earlier, used)


def _loss(odds: Tensor, found: FirstStates) -> float:
    return float(F.binary_cross_entropy_with_logits(odds, found.declines.float()))


def _plain(train: FirstStates) -> Decline:
    """Return the correction that has only a scale and a shift, with the lowest loss."""
    plain = Decline(train.states.shape[1] // 2, 1)
    chosen = [plain.scale, plain.outer.bias]
    optimizer = torch.optim.LBFGS(chosen, max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        odds = plain.log_odds(train.states, train.pointed)
        out = F.binary_cross_entropy_with_logits(odds, train.declines.float())
        out.backward()  # type: ignore[no-untyped-call]
        return out

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return plain


def _train(decline: Decline, states: Tensor, pointed: Tensor, targets: Tensor) -> None:
    """Train ``decline`` in place with AdamW and dropout, from torch's current random state."""
    free = [p for name, p in decline.named_parameters() if name.startswith(("inner", "outer"))]
    optimizer = torch.optim.AdamW(
        [{"params": free, "weight_decay": _DECAY}, {"params": [decline.scale], "weight_decay": 0.0}], lr=_RATE
    )
    batches = max(1, len(states) // _BATCH)
    rounds = max(_ROUNDS, -(-_LEAST_STEPS // batches))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, rounds * batches)
    drop = nn.Dropout(_DROPPED)
    for _ in range(rounds):
        for chosen in torch.randperm(len(states)).tensor_split(batches):
            inner = drop(F.gelu(decline.inner(drop(states[chosen]))))
            odds = decline.pointed_odds(pointed[chosen]) + decline.outer(inner).squeeze(-1)
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(odds, targets[chosen]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
