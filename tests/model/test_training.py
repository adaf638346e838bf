"""Training: the loss is the definition's, it falls, and what no number is ends the run."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.decoder.attention import attend_for_training, prefix_mask, read
from model.decoder.config import DecoderConfig
from model.decoder.heads import HeadMemory
from model.errors import ModelError
from model.training.loop import TrainProgress, TrainSettings, schedule
from model.training.rows import TokenRow, collate
from model.training.trainer import answer_logprobs, train
from tests.model.training_helpers import build, some_rows, weights
from tests.tiny_decoders import LLAMA, PREFIX

BOTH = pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
SETTINGS = TrainSettings(learning_rate=3e-3, tokens_per_batch=40, answer_tokens_per_batch=20)


@BOTH
@pytest.mark.parametrize("training", [True, False])
def test_answer_logprobs_equal_each_row_alone(config: DecoderConfig, training: bool) -> None:
    model = build(config).train(training)
    model.requires_grad_(False)
    rows = [*some_rows(6), TokenRow((7,), (7, 7, 2)), TokenRow((2, 1, 3), (2,)), TokenRow((1, 3), (40,))]
    found = answer_logprobs(model, collate(rows), first_copyable_id=5, null_id=2)
    for index, row in enumerate(rows):
        for step, token in enumerate(row.answer):
            ids = torch.tensor([row.prompt + row.answer[:step]])
            count, total = len(row.prompt), len(row.prompt) + step
            mask = torch.ones(total, total, dtype=torch.bool).tril()
            if config.prefix:
                mask[:count, :count] = True
            hidden = model(ids, mask=mask)
            memory = None
            if config.prefix:
                memory = HeadMemory(hidden[:, :count], ids[:, :count], (ids[:, :count] >= 5) | (ids[:, :count] == 2))
            expected = model.next_token(hidden[:, -1], memory).logprobs[0, token]
            assert float(found[index, step]) == pytest.approx(float(expected), abs=2e-5)


def test_attend_for_training_equals_the_fused_kernel() -> None:
    """Forwards and backwards: fp32 trains with the one, bf16 with the other."""
    random = torch.Generator().manual_seed(0)
    q = torch.randn(3, 4, 7, 6, generator=random, requires_grad=True)
    k = torch.randn(3, 2, 7, 6, generator=random, requires_grad=True)
    v = torch.randn(3, 2, 7, 6, generator=random, requires_grad=True)
    upstream = torch.randn(3, 4, 7, 6, generator=random)
    for mask in (None, prefix_mask(torch.tensor([3, 0, 5]), torch.tensor([7, 4, 6]), 7)):
        fused, written = read(q, k, v, mask), attend_for_training(q, k, v, mask)
        torch.testing.assert_close(written, fused, atol=1e-5, rtol=1e-5)
        for ours, theirs in zip(*(torch.autograd.grad(y, (q, k, v), upstream) for y in (written, fused)), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bf16", [False, True])
def test_only_low_precision_trains_with_attention_written_out(bf16: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(PREFIX).train(True)
    counted: list[int] = []

    def counting(*tensors: Tensor | None) -> Tensor:
        counted.append(1)
        return attend_for_training(*tensors)  # type: ignore[arg-type]

    monkeypatch.setattr("model.decoder.attention.attend_for_training", counting)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        model(torch.tensor([[3, 4, 5]]))
    assert len(counted) == (PREFIX.num_layers if bf16 else 0)


def test_schedule_by_hand() -> None:
    assert [schedule(step, 10, 0.2) for step in range(10)] == [
        0.5,
        1.0,
        1.0,
        7 / 8,
        6 / 8,
        5 / 8,
        4 / 8,
        3 / 8,
        2 / 8,
        1 / 8,
    ]
    assert schedule(0, 1, 0.06) == 1.0
    assert [schedule(step, 3, 0.0) for step in range(3)] == [1.0, 1.0, 0.5]
    assert all(0 < schedule(step, 757, 0.06) <= 1 for step in range(757))


@pytest.mark.drill
@BOTH
def test_a_tiny_model_learns_twenty_rows_by_heart(config: DecoderConfig, tmp_path: Path) -> None:
    rows = [TokenRow((n + 1, 30, n % 7 + 1), (n + 20, n % 5 + 1)) for n in range(20)]
    model, seen = build(config), []
    settings = TrainSettings(learning_rate=1e-2, tokens_per_batch=200, epochs=250, weight_decay=0.0)
    result = train(model, rows, settings, tmp_path, progress=seen.append, checkpoint_seconds=1e9)
    assert result.steps == len(seen) == 250
    assert [p.step for p in seen] == list(range(1, 251))
    assert seen[0].loss > 3 > 1 > seen[-1].loss == result.loss
    assert not model.training
    right = 0
    for row in rows:
        logprobs = answer_logprobs(model, collate([row]), 0)
        right += bool((logprobs > math.log(0.5)).all())
    assert right == 20


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    rows, model = some_rows(25), build(LLAMA)

    def spoil(progress: TrainProgress) -> None:
        if progress.step == 3:
            with torch.no_grad():
                model.embedding.weight.fill_(math.nan)

    with pytest.raises(ModelError, match=r"loss became nan at step 3.*learning rate"):
        train(model, rows, SETTINGS, tmp_path, progress=spoil, checkpoint_seconds=1e9)


def test_an_infinite_gradient_never_reaches_the_weights(tmp_path: Path) -> None:
    rows, model = some_rows(25), build(LLAMA)
    seen: list[TrainProgress] = []
    model.embedding.weight.register_hook(lambda grad: grad * (math.inf if len(seen) == 3 else 1.0))
    with pytest.raises(ModelError, match=r"gradient became (inf|nan) at step 3"):
        train(model, rows, SETTINGS, tmp_path, progress=seen.append, checkpoint_seconds=0.0)
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000003"]


def test_frozen_weights_stay_and_are_not_stored(tmp_path: Path) -> None:
    model = build(PREFIX)
    model.embedding.weight.requires_grad_(False)
    before = weights(model)
    train(model, some_rows(9), SETTINGS, tmp_path)
    after = weights(model)
    assert torch.equal(before["embedding.weight"], after["embedding.weight"])
    assert not torch.equal(before["head.dense.weight"], after["head.dense.weight"])
    (state,) = tmp_path.glob("step-*/state.safetensors")
    assert state.stat().st_size < 3.2 * sum(t.nbytes for n, t in after.items() if n != "embedding.weight") + 20_000


def test_max_steps_ends_the_run_and_the_schedule(tmp_path: Path) -> None:
    result = train(build(LLAMA), some_rows(25), dataclasses.replace(SETTINGS, max_steps=2), tmp_path)
    assert result.steps == 2


def test_what_cannot_be_trained_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no training rows"):
        train(build(LLAMA), [], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match=r"25 tokens.* 24"):
        train(build(LLAMA), [TokenRow((1,) * 24, (2, 3))], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match=r"token 41.* 41"):
        train(build(LLAMA), [TokenRow((1,), (41,))], SETTINGS, tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("learning_rate", 0.0),
        ("learning_rate", math.nan),
        ("epochs", 0),
        ("tokens_per_batch", 0),
        ("answer_tokens_per_batch", -1),
        ("max_steps", 0),
        ("warmup", 1.0),
        ("clip", -1.0),
        ("weight_decay", math.inf),
        ("beta1", 1.0),
        ("beta2", -0.1),
    ],
)
def test_bad_settings_are_refused_with_the_value(field: str, value: float) -> None:
    with pytest.raises(ModelError, match=rf"{field.replace('_rate', '.rate')} is {value}"):
        TrainSettings(**{field: value})  # type: ignore[arg-type]
