"""Every operation on logits gives the support and the probabilities of transformers' processors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from generation.decoding.params import SamplingParams
from generation.decoding.sampling import adjusted_logits, kept_probabilities, seen_tokens
from generation.decoding.truncation import truncate_batch
from generation.errors import GenerationError
from model.decoder.sampling_math import tempered_softmax

VOCABULARY = 4_000
ENDS = (2, 77)
PROMPT = 9


def reference(logits: Tensor, ids: Tensor, params: SamplingParams) -> Tensor:
    """Return probabilities of transformers' processors in its order (GenerationMixin._get_logits_processor)."""
    steps = LogitsProcessorList()
    if params.logit_bias:
        steps.append(SequenceBiasLogitsProcessor({(token,): float(nats) for token, nats in params.logit_bias}))
    if params.repetition_penalty != 1.0:
        steps.append(RepetitionPenaltyLogitsProcessor(params.repetition_penalty))
    if params.min_tokens:
        steps.append(MinNewTokensLengthLogitsProcessor(PROMPT, params.min_tokens, list(ENDS)))
    if params.temperature != 1.0:
        steps.append(TemperatureLogitsWarper(params.temperature))
    if params.top_k is not None:
        steps.append(TopKLogitsWarper(params.top_k))
    if params.top_p < 1:
        steps.append(TopPLogitsWarper(params.top_p))
    if params.min_p > 0:
        steps.append(MinPLogitsWarper(params.min_p))
    return torch.softmax(steps(ids, logits.double()), dim=-1)


PARAMS = [
    SamplingParams(temperature=1.0),
    SamplingParams(temperature=0.3),
    SamplingParams(temperature=1.7, top_k=1),
    SamplingParams(temperature=1.0, top_k=50),
    SamplingParams(temperature=0.9, top_k=1_000),  # numpy's partition
    SamplingParams(temperature=1.0, top_k=9_999),  # more than the vocabulary has
    SamplingParams(temperature=1.0, top_p=0.9),
    SamplingParams(temperature=2.5, top_p=0.99),  # a nucleus of most of the vocabulary
    SamplingParams(temperature=0.2, top_p=0.05),
    SamplingParams(temperature=1.0, min_p=0.02),
    SamplingParams(temperature=1.0, min_p=1.0),
    SamplingParams(temperature=0.8, top_k=400, top_p=0.8, min_p=0.05),
    SamplingParams(temperature=1.0, repetition_penalty=1.3),
    SamplingParams(temperature=1.0, repetition_penalty=0.7, top_p=0.5),
    SamplingParams(temperature=1.0, logit_bias=((5, 4.0), (3_999, -1e9), (17, -2.5))),
    SamplingParams(temperature=1.0, min_tokens=4),
    SamplingParams(
        temperature=0.7,
        top_k=300,
        top_p=0.95,
        min_p=0.01,
        repetition_penalty=1.2,
        logit_bias=((1, 3.0), (2, 9.0)),
        min_tokens=6,
    ),
]


@pytest.mark.parametrize("params", PARAMS, ids=lambda p: f"case{PARAMS.index(p)}")
@pytest.mark.parametrize("seed", [0, 1])
def test_one_row_equals_transformers(params: SamplingParams, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn((1, VOCABULARY), generator=random) * 4
    ids = torch.randint(VOCABULARY, (1, PROMPT + 3), generator=random)
    ids[0, :2] = torch.tensor([5, 1])
    expected = reference(logits, ids, params)
    adjusted = adjusted_logits(logits, [params], seen_tokens(ids.tolist(), VOCABULARY), [3], ENDS)
    found = kept_probabilities(adjusted, params)
    assert torch.equal(found > 0, expected > 0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_all_rows_at_once_equal_transformers_row_by_row() -> None:
    random = torch.Generator().manual_seed(3)
    logits = torch.randn((len(PARAMS), VOCABULARY), generator=random) * 3
    ids = torch.randint(VOCABULARY, (len(PARAMS), PROMPT + 3), generator=random)
    drawn = [i % 7 for i in range(len(PARAMS))]
    adjusted = adjusted_logits(logits, PARAMS, seen_tokens(ids.tolist(), VOCABULARY), drawn, ENDS)
    found = kept_probabilities(adjusted, PARAMS)
    for row, params in enumerate(PARAMS):
        own = torch.cat((ids[row, :PROMPT], ids[row, -1:].expand(drawn[row])))[None]  # as transformers counts
        alone = adjusted_logits(
            logits[row : row + 1], [params], seen_tokens(own.tolist(), VOCABULARY), drawn[row : row + 1], ENDS
        )
        expected = reference(logits[row : row + 1], own, params)
        if params.repetition_penalty == 1.0:  # the same history
            assert torch.equal(found[row], kept_probabilities(alone, params)[0])
        np.testing.assert_allclose(kept_probabilities(alone, params), expected, atol=1e-6)
        assert torch.equal(kept_probabilities(alone, params) > 0, expected > 0)


@pytest.mark.parametrize("size", [7, 300, VOCABULARY])
def test_the_gpus_truncation_equals_the_rows(size: int) -> None:
    """The GPU version runs on any device. The logits are rounded, so that there are ties."""
    random = torch.Generator().manual_seed(size)
    rows = [p for p in PARAMS if p.truncates]
    logits = (torch.randn((len(rows), size), generator=random) * 6).round() / 2
    shares = torch.cat([tempered_softmax(x[None].double(), p.temperature) for x, p in zip(logits, rows, strict=True)])
    batch = truncate_batch(shares, rows)
    found = kept_probabilities(logits, rows)
    assert torch.equal(batch > 0, found > 0)
    np.testing.assert_allclose(batch / batch.sum(-1, keepdim=True), found, atol=1e-12)


def test_exactly_k_tokens_are_kept_where_many_tie() -> None:
    logits = torch.tensor([[1.0, 3.0, 3.0, 2.0, 3.0, 3.0, 0.0]])
    kept = kept_probabilities(logits, SamplingParams(temperature=1.0, top_k=3))
    assert (kept > 0).tolist() == [[False, True, True, False, True, False, False]]
    flat = kept_probabilities(torch.zeros((1, 1_000)), SamplingParams(temperature=1.0, top_p=0.25))
    assert flat[0].nonzero().squeeze(-1).tolist() == list(range(250))


def test_nothing_asked_for_is_the_same_tensor() -> None:
    logits = torch.randn((2, 9))
    assert adjusted_logits(logits, [SamplingParams(), SamplingParams(temperature=1.0)], None, [0, 0], ENDS) is logits
    late = SamplingParams(min_tokens=2)
    assert adjusted_logits(logits, [late, late], None, [2, 3], ENDS) is logits


def test_adjusting_changes_neither_the_logits_given_nor_other_rows() -> None:
    logits = torch.randn((3, 9))
    before = logits.clone()
    rows = [SamplingParams(), SamplingParams(logit_bias=((4, 1.0),), min_tokens=1), SamplingParams()]
    out = adjusted_logits(logits, rows, None, [0, 0, 0], {2})
    assert torch.equal(logits, before)
    assert torch.equal(out[[0, 2]], before[[0, 2]])
    assert out[1, 2] == -torch.inf
    assert out[1, 4] == before[1, 4] + 1.0


def test_a_bias_outside_the_vocabulary_is_refused_by_name() -> None:
    with pytest.raises(GenerationError, match=r"logit_bias.*9.*8"):
        adjusted_logits(torch.zeros((1, 9)), [SamplingParams(logit_bias=((9, 1.0),))], None, [0], ())
