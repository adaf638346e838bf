"""Pretraining: the loss is the definition's; a run that was killed or stopped ends where an undisturbed one does."""

from __future__ import annotations

import dataclasses
import math
import resource
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention.bias import causal_upper_left

from model.config import DecoderConfig
from model.decoder import Decoder
from model.errors import ModelError
from model.training.pretrain import PretrainProgress, PretrainSettings, ValidationPlan, cosine, pretrain, window_loss
from model.training.pretrain_corpus import CorpusWriter, TokenStream
from model.training.pretrain_rate import matrix_rate
from model.training.pretrain_shape import (
    CONTEXT,
    VOCABULARY,
    Size,
    new_decoder,
    parameter_count,
    pretrain_config,
    training_flops_per_token,
)
from model.training.pretrain_validation import validate

CONFIG = DecoderConfig(
    vocab_size=41,
    hidden_size=16,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=4,
    intermediate_size=24,
    max_positions=12,
    tied_head=True,
)
SETTINGS = PretrainSettings(
    12, learning_rate=3e-3, tokens_per_step=36, tokens_at_once=24, epochs=1.5, warmup=0.1, seed=1
)


class KilledError(Exception):
    """Stands for the process ending here."""


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenStream]:
    folder = tmp_path_factory.mktemp("corpus")
    random = np.random.default_rng(0)
    writer = CorpusWriter(folder, "test", end_id=0, shard_bytes=1000)
    for n in range(30):
        writer.add(random.integers(1, 41, size=9).astype(np.uint16), held_out=n % 5 == 0)
    facts = writer.finish(())
    return {name: TokenStream(folder, facts, name) for name in ("train", "validation")}


def weights(model: Decoder) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_loss_is_the_definition() -> None:
    model = new_decoder(CONFIG, 0)
    windows = torch.randint(0, 41, (3, 13), generator=torch.Generator().manual_seed(0))
    expected = 0.0
    for row in windows:
        for t in range(12):
            logits = model.logits(model(row[None, : t + 1]))[0, -1]
            expected -= float(torch.log_softmax(logits, -1)[row[t + 1]].detach())
    for training in (True, False):
        assert float(window_loss(model.train(training), windows).detach()) == pytest.approx(expected / 36, abs=1e-5)


def test_the_mask_a_gpu_is_given_means_the_same() -> None:
    model = new_decoder(CONFIG, 0).eval()
    ids = torch.randint(0, 41, (2, 12), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(model(ids, mask=causal_upper_left(12, 12)), model(ids), atol=1e-6, rtol=1e-5)


def test_pieces_of_a_step_add_up_to_the_step(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    """Five windows by two, two and one: the mean over all, and not the mean of three means."""
    losses = []
    for at_once in (12, 24, 1000):
        settings = dataclasses.replace(SETTINGS, tokens_per_step=60, tokens_at_once=at_once, max_steps=3)
        model = new_decoder(CONFIG, 0)
        losses.append(pretrain(model, streams["train"], settings, tmp_path / str(at_once), corpus="c").loss)
    assert losses[0] == pytest.approx(losses[2], abs=1e-5)
    assert losses[1] == pytest.approx(losses[2], abs=1e-5)


def test_validation_predicts_every_token_once(streams: dict[str, TokenStream]) -> None:
    model = new_decoder(CONFIG, 0).train()
    stream = streams["validation"]
    ids = [0, *stream.read(0, len(stream)).tolist()]
    token_bytes = [0] + [n % 3 + 1 for n in range(40)]
    for count, at_once in ((len(stream), 2), (12, 8), (5, 8), (13, 1)):
        found = validate(
            model, stream, token_bytes, context=12, end_id=0, tokens=count, bf16=False, windows_at_once=at_once
        )
        assert found is not None
        nats = 0.0
        for t in range(count):
            start = t // 12 * 12
            logits = model.eval()(torch.tensor([ids[start : t + 1]]))
            nats += float(F.cross_entropy(model.logits(logits)[0, -1].detach(), torch.tensor(ids[t + 1])))
        assert found.tokens == count
        assert found.nats == pytest.approx(nats, rel=1e-5)
        assert found.text_bytes == sum(token_bytes[i] for i in ids[1 : count + 1])
        assert found.perplexity == pytest.approx(math.exp(nats / count))
        assert found.byte_perplexity == pytest.approx(math.exp(nats / found.text_bytes))
    assert validate(model, stream, token_bytes, context=12, end_id=0, tokens=0, bf16=False) is None
    model.train()
    validate(model, stream, token_bytes, context=12, end_id=0, tokens=9, bf16=False)
    assert model.training


def test_cosine_by_hand() -> None:
    assert [cosine(step, 6, 0.34, 0.1) for step in range(2)] == [0.5, 1.0]
    assert cosine(2, 6, 0.34, 0.1) == 1.0
    assert cosine(4, 6, 0.34, 0.1) == pytest.approx(0.55)
    assert cosine(6, 6, 0.34, 0.1) == pytest.approx(0.1)
    assert all(0.1 <= cosine(step, 500, 0.02, 0.1) <= 1.0 for step in range(10, 500))


@pytest.mark.parametrize(("bf16", "part_bytes"), [(False, None), (True, 5000)])
def test_a_killed_run_ends_bitwise_where_an_undisturbed_one_does(
    streams: dict[str, TokenStream],
    bf16: bool,
    part_bytes: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bitwise: the same machine, thread count and precision (the checkpoint says which) compute the same sums."""
    monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: bf16)
    stream, whole = streams["train"], new_decoder(CONFIG, 0)
    result = pretrain(whole, stream, SETTINGS, tmp_path / "whole", corpus="c")
    steps = result.steps
    assert steps == int(1.5 * (len(stream) // 12)) // 3 > 4
    assert result.finished
    assert result.bf16 == bf16
    for kill in (1, 4, steps):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: PretrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: bf16)
        with pytest.raises(KilledError):
            pretrain(
                new_decoder(CONFIG, 0),
                stream,
                SETTINGS,
                folder,
                corpus="c",
                progress=die,
                checkpoint_seconds=-1.0,
                part_bytes=part_bytes,
            )
        if kill % 2:
            (folder / ".step-0000099.part").mkdir()  # what a kill in the middle of writing leaves
            (folder / "joined").mkdir()
        if kill > 1:
            monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: not bf16)
        if part_bytes:
            sizes = [path.stat().st_size for path in folder.glob("step-*/state.safetensors*")]
            assert all(size <= part_bytes for size in sizes)
            assert kill == 1 or len(sizes) > 3
        resumed = new_decoder(CONFIG, 0)
        again = pretrain(resumed, stream, SETTINGS, folder, corpus="c", part_bytes=part_bytes)
        assert again.resumed_at == kill - 1
        assert again.loss == result.loss
        assert same(weights(whole), weights(resumed))
        assert [path.name for path in folder.iterdir()] == [f"step-{steps:07d}"]


def test_told_to_stop_it_writes_a_checkpoint_and_goes_on_from_it(
    streams: dict[str, TokenStream], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Probed once a run, and here are two: on a busy machine they may decide differently.
    monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: False)
    whole = new_decoder(CONFIG, 0)
    result = pretrain(whole, streams["train"], SETTINGS, tmp_path / "whole", corpus="c")
    calls, model = 0, new_decoder(CONFIG, 0)
    asked: list[bool] = []

    def third() -> bool:
        asked.append(True)
        return len(asked) % 3 == 0

    while True:
        part_bytes = 4000 if calls % 2 else None  # whole and in parts by turns
        model = new_decoder(CONFIG, 0)
        found = pretrain(
            model, streams["train"], SETTINGS, tmp_path / "parts", corpus="c", stop=third, part_bytes=part_bytes
        )
        assert found.resumed_at == 3 * calls
        calls += 1
        if found.finished:
            break
        assert found.step == 3 * calls
    assert calls == math.ceil(result.steps / 3) > 2
    assert same(weights(whole), weights(model))


def test_another_runs_checkpoint_is_refused_by_name(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    pretrain(new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c", part_bytes=4000)
    for settings, corpus, seed, named in (
        (SETTINGS, "d", 0, "other corpus:"),
        (dataclasses.replace(SETTINGS, clip=2.0), "c", 0, "other settings:"),
        (SETTINGS, "c", 1, "other starting weights:"),
    ):
        with pytest.raises(ModelError, match=named) as caught:
            pretrain(new_decoder(CONFIG, seed), streams["train"], settings, tmp_path, corpus=corpus)
        assert "joined" not in str(caught.value)
    (part, *_) = tmp_path.glob("step-*/state.safetensors.001")
    part.write_bytes(part.read_bytes()[:-1])
    assert pretrain(new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c").resumed_at == 0


@pytest.mark.parametrize("part_bytes", [None, 15_000])
def test_a_full_disk_keeps_the_last_checkpoint(
    streams: dict[str, TokenStream], part_bytes: int | None, tmp_path: Path
) -> None:
    """The limit on file sizes stands for the disk: writes fail in the middle with the same kind of error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(progress: PretrainProgress) -> None:
        if progress.step == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, hard))

    try:
        with pytest.raises(ModelError, match=r"step-0000003 could not be written .*the one before it is kept"):
            pretrain(
                new_decoder(CONFIG, 0),
                streams["train"],
                SETTINGS,
                tmp_path,
                corpus="c",
                progress=fill,
                checkpoint_seconds=-1.0,
                part_bytes=part_bytes,
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert pretrain(new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c").resumed_at == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError("CUDA error: unspecified launch failure\nmore"),
            r"the GPU failed .*unspecified launch failure.*: the checkpoint",
        ),
        (torch.OutOfMemoryError("out of memory"), r"memory ran out .*: the checkpoint"),
    ],
)
def test_a_gpu_that_fails_gets_one_message(
    streams: dict[str, TokenStream], error: RuntimeError, said: str, tmp_path: Path
) -> None:
    model, seen = new_decoder(CONFIG, 0), []

    def fail(grad: torch.Tensor) -> None:
        if len(seen) == 2:
            raise error

    model.embedding.weight.register_hook(fail)
    with pytest.raises(ModelError, match=said) as caught:
        pretrain(
            model,
            streams["train"],
            SETTINGS,
            tmp_path,
            corpus="c",
            progress=seen.append,
            checkpoint_seconds=-1.0,
        )
    assert "\n" not in str(caught.value)
    assert f"checkpoint of step 2 in {tmp_path} is kept" in str(caught.value)
    assert "the same command resumes from it" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]


def test_other_errors_stay_what_they_are(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    model = new_decoder(CONFIG, 0)

    def fail(grad: torch.Tensor) -> None:
        raise RuntimeError("a mistake of ours")

    model.embedding.weight.register_hook(fail)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        pretrain(model, streams["train"], SETTINGS, tmp_path, corpus="c")


def test_no_number_that_is_not_finite_reaches_the_weights(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    model, seen = new_decoder(CONFIG, 0), []
    model.embedding.weight.register_hook(lambda grad: grad * (math.inf if len(seen) == 3 else 1.0))
    with pytest.raises(ModelError, match=r"gradient became (inf|nan) at step 3.*--learning-rate"):
        pretrain(model, streams["train"], SETTINGS, tmp_path, corpus="c", progress=seen.append)
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())


def test_progress_says_what_a_run_does(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    seen: list[PretrainProgress] = []
    plan = ValidationPlan(streams["validation"], [1] * 41, 0, 30, times=3)
    result = pretrain(
        new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c", validation=plan, progress=seen.append
    )
    assert [p.step for p in seen] == list(range(1, result.steps + 1))
    assert all(p.tokens_per_second > 0 and p.matrix_share > 0 for p in seen)
    measured = [p.step for p in seen if p.validation is not None]
    assert len(measured) in (3, 4)
    assert measured[-1] == result.steps
    assert seen[-1].validation is not None
    assert seen[-1].validation.tokens == 30
    assert seen[-1].loss == result.loss < seen[0].loss


@pytest.mark.parametrize("size", ["tiny", "full"])
def test_the_shapes_keep_their_promise(size: Size) -> None:
    config = pretrain_config(size, VOCABULARY[size], CONTEXT[size])
    with torch.device("meta"):
        count = parameter_count(Decoder(config))
    assert 0.4e6 < count < 0.6e6 if size == "tiny" else 23e6 < count <= 25e6
    # Products of one token: all parameters but the norms', the tied head once; scores and reads of half a window.
    norms = (2 * config.num_layers + 1) * config.hidden_size
    reads = 6 * config.num_layers * config.hidden_size * CONTEXT[size]
    assert training_flops_per_token(config, CONTEXT[size]) == 6 * (count - norms) + reads


def test_a_new_decoder_is_its_seeds_and_starts_near_uniform() -> None:
    assert same(weights(new_decoder(CONFIG, 3)), weights(new_decoder(CONFIG, 3)))
    assert not same(weights(new_decoder(CONFIG, 3)), weights(new_decoder(CONFIG, 4)))
    ids = torch.randint(0, 41, (4, 13), generator=torch.Generator().manual_seed(0))
    assert float(window_loss(new_decoder(CONFIG, 3), ids).detach()) == pytest.approx(math.log(41), abs=0.1)
    assert matrix_rate(torch.device("cpu"), bf16=False) > 1e8


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("learning_rate", 0.0),
        ("context", 0),
        ("epochs", math.inf),
        ("tokens_per_step", 0),
        ("tokens_at_once", -1),
        ("max_steps", 0),
        ("warmup", 1.0),
        ("floor", 1.1),
        ("clip", 0.0),
        ("weight_decay", -1.0),
        ("beta2", 1.0),
    ],
)
def test_bad_settings_are_refused_with_the_value(field: str, value: float) -> None:
    with pytest.raises(ModelError, match=f"{field} is {value}"):
        dataclasses.replace(SETTINGS, **{field: value})  # type: ignore[arg-type]


def test_a_window_longer_than_the_positions_is_refused(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="windows of 13 tokens, but 12 positions"):
        pretrain(
            new_decoder(CONFIG, 0), streams["train"], dataclasses.replace(SETTINGS, context=13), tmp_path, corpus="c"
        )
