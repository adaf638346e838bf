"""Decoding with marks, following and calibration equals decoding without a cache, and the formulas."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from generation.decoding.loop import Calibration, decode
from generation.decoding.params import SamplingParams
from model.decoder.decoder import Decoder
from model.decoder.heads import NextToken
from model.training.rows import TokenRow, collate
from model.training.trainer import answer_logprobs
from tests.tiny_decoders import MARKED as CONFIG

PROMPT = (1, 7, 8, 2, 3, 7, 8, 9, 10, 8, 9, 11, 2)
NONE: frozenset[int] = frozenset()
WARM = SamplingParams(temperature=1.0, max_tokens=8)


def build(seed: int = 0, **changes: object) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(dataclasses.replace(CONFIG, **changes))  # type: ignore[arg-type]
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.4)
        if model.head.follow is not None:  # type: ignore[union-attr]
            torch.nn.init.normal_(model.head.follow, std=1.5)  # type: ignore[union-attr,arg-type]
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("seed", range(3))
def test_samples_have_the_log_probabilities_of_teaching(seed: int) -> None:
    model = build(seed)
    samples = decode(model, PROMPT, WARM, tuple(range(6)), frozenset((2,)), first_copyable_id=5, null_id=1)
    drawn = [sample for sample in samples if sample.token_ids]
    assert len({sample.token_ids for sample in drawn}) > 2
    distil_rows = answer_logprobs(model, collate([TokenRow(PROMPT, sample.token_ids) for sample in drawn]), 5, 1)
    for sample, row in zip(drawn, distil_rows, strict=True):
        assert sample.token_logprobs == pytest.approx(row[: len(sample.token_ids)].tolist(), abs=1e-4)


def test_a_sample_alone_equals_itself_in_company() -> None:
    model = build()
    together = decode(model, PROMPT, WARM, tuple(range(6)), NONE, first_copyable_id=5)
    for seed, sample in enumerate(together):
        (alone,) = decode(model, PROMPT, WARM, (seed,), NONE, first_copyable_id=5)
        assert alone.token_ids == sample.token_ids
        assert alone.token_logprobs == pytest.approx(sample.token_logprobs, abs=1e-5)


def step(seed: int = 0) -> NextToken:
    random = torch.Generator().manual_seed(seed)
    logprobs = torch.log_softmax(torch.randn(2, 7, generator=random), dim=-1)
    return NextToken(logprobs, torch.rand(2, 4, generator=random) / 10)


def test_calibration_by_its_formula() -> None:
    given, use = step(), Calibration(1.6, (3, -0.7))
    later, first = use.later(given), use.first(given)
    power = given.logprobs.exp() ** (1 / 1.6)
    torch.testing.assert_close(later.logprobs.exp(), power / power.sum(-1, keepdim=True))
    power[:, 3] *= torch.tensor(-0.7).exp()
    torch.testing.assert_close(first.logprobs.exp(), power / power.sum(-1, keepdim=True))
    for found in (later, first):
        assert found.uncalibrated is given.logprobs
        assert found.copy is given.copy
    for idle in (Calibration(), Calibration(1.0, (3, 0.0))):
        assert idle.first(given) is given and idle.later(given) is given


def test_a_calibrated_draw_returns_calibrated_log_probabilities_and_the_models_own_copy_shares() -> None:
    model = build()
    plain = decode(model, PROMPT, WARM, tuple(range(20)), NONE, first_copyable_id=5, null_id=1)
    unwanted = plain[0].token_ids[0]
    use = Calibration(2.0, (unwanted, -30.0))
    found = decode(model, PROMPT, WARM, tuple(range(20)), NONE, first_copyable_id=5, null_id=1, calibration=use)
    assert not any(sample.token_ids[0] == unwanted for sample in found)
    shares = [{p.position: p.share for p in s.sources[0]} for s in (*plain, *found)]
    same = 0
    for sample, share in zip(found, shares[20:], strict=True):
        assert sum(share.values()) <= 1 + 1e-5
        for other, theirs in zip(plain, shares[:20], strict=True):
            if other.token_ids[0] == sample.token_ids[0]:
                same += 1
                assert share == pytest.approx(theirs, abs=1e-5)
                assert other.token_logprobs[0] != pytest.approx(sample.token_logprobs[0], abs=1e-3)
    assert same > 0


def test_an_idle_calibration_changes_nothing() -> None:
    model = build()
    assert decode(model, PROMPT, WARM, (0, 1), NONE, calibration=Calibration()) == decode(
        model, PROMPT, WARM, (0, 1), NONE
    )
