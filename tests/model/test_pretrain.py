"""Pretraining: the loss is the definition's, validation too, and a run says what it does."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention.bias import causal_upper_left

from model.decoder.decoder import Decoder
from model.errors import ModelError
from model.training.pretrain import PretrainProgress, ValidationPlan, cosine, pretrain, window_loss
from model.training.pretrain_corpus import TokenStream
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
from tests.model.pretraining_helpers import CONFIG, SETTINGS
from tests.model.training_helpers import same, weights


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


def test_no_number_that_is_not_finite_reaches_the_weights(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    model, seen = new_decoder(CONFIG, 0), []
    model.embedding.weight.register_hook(lambda grad: grad * (math.inf if len(seen) == 3 else 1.0))
    with pytest.raises(ModelError, match=r"gradient became (inf|nan) at step 3.*learning rate"):
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


@pytest.mark.parametrize(
    ("size", "least", "most"), [("tiny", 0.4e6, 0.6e6), ("small", 1.6e6, 1.65e6), ("full", 23e6, 25e6)]
)
def test_the_shapes_keep_their_promise(size: Size, least: float, most: float) -> None:
    config = pretrain_config(size, VOCABULARY[size], CONTEXT[size])
    with torch.device("meta"):
        count = parameter_count(Decoder(config))
    assert least < count <= most
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
    with pytest.raises(ModelError, match=r"13 tokens.* 12"):
        pretrain(
            new_decoder(CONFIG, 0), streams["train"], dataclasses.replace(SETTINGS, context=13), tmp_path, corpus="c"
        )
