"""Training: the loss is the definition's, it falls, and a killed run ends where an undisturbed one does."""

from __future__ import annotations

import dataclasses
import json
import math
import resource
import shutil
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from model.attention import attend_for_training, prefix_mask
from model.config import DecoderConfig
from model.decoder import Decoder
from model.errors import ModelError
from model.heads import HeadMemory
from model.training.loop import TrainProgress, TrainResult, TrainSettings, schedule
from model.training.rows import TokenRow, collate
from model.training.trainer import answer_logprobs, train

LLAMA = DecoderConfig(
    vocab_size=41,
    hidden_size=16,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=4,
    intermediate_size=24,
    max_positions=24,
)
PREFIX = dataclasses.replace(
    LLAMA,
    num_kv_heads=4,
    norm="layer",
    norm_position="post",
    positions="learned",
    activation="gelu",
    attention_bias=True,
    output_bias=True,
    mlp_bias=True,
    tied_head=True,
    embedding_norm=True,
    prefix=True,
    head="pointer",
)
BOTH = pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
SETTINGS = TrainSettings(learning_rate=3e-3, tokens_per_batch=40, answer_tokens_per_batch=20)


class KilledError(Exception):
    """Stands for the process ending here."""


def build(config: DecoderConfig, seed: int = 0) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Decoder(config)


def some_rows(count: int, seed: int = 0) -> list[TokenRow]:
    random = torch.Generator().manual_seed(seed)

    def draw(low: int, high: int) -> tuple[int, ...]:
        size = int(torch.randint(low, high, (1,), generator=random))
        return tuple(torch.randint(1, 41, (size,), generator=random).tolist())

    return [TokenRow(draw(2, 9), draw(1, 4)) for _ in range(count)]


def weights(model: Decoder) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


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
    random = torch.Generator().manual_seed(0)
    q = torch.randn(3, 4, 7, 6, generator=random)
    k, v = torch.randn(3, 2, 7, 6, generator=random), torch.randn(3, 2, 7, 6, generator=random)
    for mask in (None, prefix_mask(torch.tensor([3, 0, 5]), torch.tensor([7, 4, 6]), 7)):
        fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        torch.testing.assert_close(attend_for_training(q, k, v, mask), fused, atol=1e-5, rtol=1e-5)


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


@BOTH
@pytest.mark.parametrize("bf16", [False, True])
def test_a_run_killed_at_any_step_ends_bitwise_where_an_undisturbed_one_does(
    config: DecoderConfig, bf16: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bitwise: the same machine, thread count and precision (the checkpoint says which) compute the same sums."""
    rows = some_rows(25)
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
    whole = build(config)
    result = train(whole, rows, SETTINGS, tmp_path / "whole")
    assert result.resumed_at == 0
    steps = result.steps
    assert steps > 4
    for kill in range(1, steps + 1):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: TrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
        with pytest.raises(KilledError):
            train(build(config), rows, SETTINGS, folder, progress=die, checkpoint_seconds=0.0)
        if kill % 2:
            (folder / ".step-0000099.part").mkdir()  # what a kill in the middle of writing leaves
        # The machine is busy now and the probe would decide otherwise. (Before the first checkpoint it still may.)
        if kill > 1:
            monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: not bf16)
        resumed = build(config)
        again = train(resumed, rows, SETTINGS, folder, checkpoint_seconds=0.0)
        assert again.resumed_at == kill - 1  # the step it died in was not saved
        assert again.steps == steps
        assert again.loss == result.loss
        assert same(weights(whole), weights(resumed))
        assert [path.name for path in folder.iterdir()] == [f"step-{steps:07d}"]


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    rows = some_rows(9)
    first = build(LLAMA)
    result = train(first, rows, SETTINGS, tmp_path)
    second = build(LLAMA)
    again = train(second, rows, SETTINGS, tmp_path)
    assert again.resumed_at == again.steps == result.steps
    assert again.loss == result.loss
    assert same(weights(first), weights(second))


def test_anothers_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    rows = some_rows(9)
    train(build(LLAMA), rows, SETTINGS, tmp_path)
    for others, settings, named in (
        (rows[::-1], SETTINGS, "other rows:"),
        (rows, dataclasses.replace(SETTINGS, seed=1), "other settings:"),
    ):
        with pytest.raises(ModelError, match=named):
            train(build(LLAMA), others, settings, tmp_path)
    for other in (build(PREFIX), build(LLAMA, seed=5)):
        with pytest.raises(ModelError, match="other starting weights"):
            train(other, rows, SETTINGS, tmp_path)


@pytest.mark.parametrize("damage", ["flip", "cut", "json", "facts", "gone", "list"])
def test_a_damaged_checkpoint_is_passed_over(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an older one where there is one; else the run begins anew, and says so. It never goes on from damage."""
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: False)
    rows, folder = some_rows(25), tmp_path / "run"
    whole = build(LLAMA)
    train(whole, rows, SETTINGS, tmp_path / "whole")

    def die(progress: TrainProgress) -> None:
        if progress.step == 3:
            shutil.copytree(folder / "step-0000002", tmp_path / "step-0000002")
        if progress.step == 5:
            raise KilledError

    with pytest.raises(KilledError):
        train(build(LLAMA), rows, SETTINGS, folder, progress=die, checkpoint_seconds=0.0)
    newest = folder / "step-0000004"
    tensors, facts = newest / "state.safetensors", newest / "state.json"
    content = bytearray(tensors.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        tensors.write_bytes(content)
    elif damage == "cut":
        tensors.write_bytes(content[:-100])
    elif damage == "json":
        facts.write_text(facts.read_text()[:-20])
    elif damage == "facts":
        facts.write_text(json.dumps({"sha256": json.loads(facts.read_text())["sha256"]}))
    elif damage == "list":
        facts.write_text("[]")
    else:
        tensors.unlink()
    shutil.copytree(folder, tmp_path / "alone")
    shutil.copytree(tmp_path / "step-0000002", folder / "step-0000002")
    for place, begun in ((folder, 2), (tmp_path / "alone", 0)):
        model = build(LLAMA)
        assert train(model, rows, SETTINGS, place).resumed_at == begun
        assert same(weights(model), weights(whole))


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    """The limit on file sizes stands for the disk: writes fail in the middle with the same kind of error."""
    rows = some_rows(25)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(progress: TrainProgress) -> None:
        if progress.step == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))

    try:
        with pytest.raises(ModelError, match=r"step-0000003 could not be written .*the one before it is kept"):
            train(build(LLAMA), rows, SETTINGS, tmp_path, progress=fill, checkpoint_seconds=0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert train(build(LLAMA), rows, SETTINGS, tmp_path).resumed_at == 2


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    rows, model = some_rows(25), build(LLAMA)

    def spoil(progress: TrainProgress) -> None:
        if progress.step == 3:
            with torch.no_grad():
                model.embedding.weight.fill_(math.nan)

    with pytest.raises(ModelError, match=r"loss became nan at step 3.*--learning-rate"):
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


def test_a_run_may_be_shortened_and_lengthened_on_the_way(tmp_path: Path) -> None:
    """The schedule ends at the new number of steps, and what was planned before stays on record."""

    def stop(progress: TrainProgress) -> None:
        if progress.step == 3:
            raise KilledError

    def again(most: int | None) -> TrainResult:
        return train(build(LLAMA), rows, dataclasses.replace(SETTINGS, max_steps=most), tmp_path)

    rows = some_rows(60)
    with pytest.raises(KilledError):
        train(build(LLAMA), rows, SETTINGS, tmp_path, checkpoint_seconds=0.0, progress=stop)
    planned = json.loads(next(tmp_path.glob("step-*/state.json")).read_text())["identity"]["steps"]
    assert planned > 6
    short = again(5)
    assert (short.steps, short.resumed_at, short.schedules) == (5, 2, ((0, planned), (2, 5)))
    longer = again(6)
    assert (longer.steps, longer.resumed_at) == (6, 5)
    assert longer.schedules == (*short.schedules, (5, 6))
    assert again(4).steps == 6  # nothing is undone


def test_what_cannot_be_trained_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no training rows"):
        train(build(LLAMA), [], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match="row of 25 tokens does not fit the context of 24"):
        train(build(LLAMA), [TokenRow((1,) * 24, (2, 3))], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match="a row holds token 41, the model has 41"):
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
