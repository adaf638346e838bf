"""A prefix decoder with marks and following: cached, uncached and taught, alone or padded, it says the same."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.errors import ModelError
from model.training.rows import TokenRow, collate
from model.training.trainer import answer_logprobs
from tests.tiny_decoders import MARKED as CONFIG

NEAR = {"atol": 2e-5, "rtol": 1e-5}
# [1] question [2] [3] passage [2]; answers copy stretches of the passage, turn off in the middle, or point at [1].
ROWS = (
    TokenRow((1, 7, 8, 2, 3, 7, 8, 9, 10, 8, 9, 11, 2), (8, 9, 10, 8, 2)),
    TokenRow((1, 7, 8, 2, 3, 7, 8, 9, 10, 8, 9, 11, 2), (8, 9, 11, 2)),
    TokenRow((1, 12, 2, 3, 13, 12, 2), (12, 2)),
    TokenRow((1, 14, 15, 16, 2), (20, 21, 22, 2)),
    TokenRow((1, 9, 2, 3, 9, 9, 9, 10, 2), (9, 9, 9, 9, 10, 2)),
    TokenRow((1, 6, 2, 3, 7, 2), (1, 2)),
)


def build(seed: int = 0, config: DecoderConfig = CONFIG) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(config)
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.4)
        if model.head.follow is not None:  # type: ignore[union-attr]
            torch.nn.init.normal_(model.head.follow, std=1.5)  # type: ignore[union-attr,arg-type]
    return model.eval().requires_grad_(False)


def copyable(ids: torch.Tensor) -> torch.Tensor:
    return copyable_tokens(ids, 5, 1)


def uncached(model: Decoder, row: TokenRow) -> torch.Tensor:
    """(A): each answer token's log-probability, all computed again for each, by next_token."""
    out = []
    count = len(row.prompt)
    for step, token in enumerate(row.answer):
        ids = torch.tensor([row.prompt + row.answer[:step]])
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        mask[:count, :count] = True
        hidden = model(ids, mask=mask, prompt_lengths=torch.tensor([count]))
        due = torch.tensor([[*row.answer[:step], 0]])
        memory = HeadMemory(hidden[:, :count], ids[:, :count], copyable(ids[:, :count]), due)
        out.append(model.next_token(hidden[:, -1], memory).logprobs[0, token])
    return torch.stack(out)


def cached(model: Decoder, prompt: tuple[int, ...], answers: torch.Tensor) -> torch.Tensor:
    """(S, A): log-probabilities of S answers to one prompt, read once and then token by token from the cache."""
    samples, steps = answers.shape
    ids = torch.tensor([prompt])
    cache = model.new_cache(1, len(prompt) + steps)
    hidden = model(ids, cache)
    memory = HeadMemory(hidden, ids, copyable(ids))
    first = model.next_token(hidden[:, -1], memory).logprobs.expand(samples, -1)
    out = [first.gather(-1, answers[:, :1])]
    cache = cache.expand(samples)
    for step in range(1, steps):
        due = torch.cat((answers[:, :step], torch.zeros_like(answers[:, :1])), dim=1)
        memory = dataclasses.replace(memory, answer=due)
        logprobs = model.next_token(model(answers[:, step - 1 : step], cache)[:, -1], memory).logprobs
        out.append(logprobs.gather(-1, answers[:, step : step + 1]))
    return torch.cat(out, dim=1)


@pytest.mark.parametrize("seed", range(3))
def test_taught_in_a_padded_batch_equals_each_row_alone_and_uncached(seed: int) -> None:
    model = build(seed)
    together = answer_logprobs(model, collate(ROWS), 5, 1)
    for index, row in enumerate(ROWS):
        found = together[index, : len(row.answer)]
        torch.testing.assert_close(found, answer_logprobs(model, collate([row]), 5, 1)[0], **NEAR)
        torch.testing.assert_close(found, uncached(model, row), **NEAR)


@pytest.mark.parametrize("seed", range(3))
def test_several_samples_from_the_cache_equal_the_uncached_ones(seed: int) -> None:
    model, prompt = build(seed), ROWS[0].prompt
    answers = torch.tensor([[8, 9, 10, 8], [8, 9, 11, 2], [9, 10, 8, 9], [20, 21, 20, 8]])
    found = cached(model, prompt, answers)
    for index, answer in enumerate(answers.tolist()):
        torch.testing.assert_close(found[index], uncached(model, TokenRow(prompt, tuple(answer))), **NEAR)
        torch.testing.assert_close(found[index], cached(model, prompt, answers[index : index + 1])[0], **NEAR)


def test_marks_and_following_do_change_the_numbers() -> None:
    model = build()
    before = answer_logprobs(model, collate(ROWS), 5, 1)
    for part in (model.marks.weight, model.head.follow):  # type: ignore[union-attr]
        kept = part.clone()
        part.zero_()
        # Only where there is something to mark or to follow: the fourth row shows no passage.
        changed = (answer_logprobs(model, collate(ROWS), 5, 1) - before).abs().max(dim=1).values
        assert changed[0] > 1e-3
        part.copy_(kept)


def test_a_stretch_that_is_copied_goes_on_where_it_stands() -> None:
    """With a strong bias the copy weights after 8 9 lie on what follows 8 9 in the passage, 10 and 11."""
    model = build()
    model.head.follow.copy_(torch.tensor([0.0, 0.0, 30.0, 60.0]))  # type: ignore[union-attr]
    prompt = ROWS[0].prompt
    ids = torch.tensor([prompt])
    hidden = model(ids)
    memory = HeadMemory(hidden, ids, copyable(ids), torch.tensor([[8, 9, 0]]))
    copy = model.next_token(hidden[:, -1], memory).copy
    assert copy is not None
    assert sorted(copy[0].topk(2).indices.tolist()) == [8, 11]
    assert copy[0, [8, 11]].sum() / copy.sum() > 0.999


def test_without_the_features_there_are_no_weights_for_them() -> None:
    plain = Decoder(dataclasses.replace(CONFIG, mark_separator=None, follow=0))
    assert plain.marks is None
    assert plain.head.follow is None  # type: ignore[union-attr]
    assert not [name for name in plain.state_dict() if "marks" in name or "follow" in name]


def test_fresh_marks_change_nothing_yet() -> None:
    """So a warm start with marks begins where MiniLM stands."""
    torch.manual_seed(0)
    fresh = Decoder(CONFIG).eval()
    plain = Decoder(dataclasses.replace(CONFIG, mark_separator=None)).eval()
    plain.load_state_dict({n: t for n, t in fresh.state_dict().items() if not n.startswith("marks.")})
    ids = torch.tensor([ROWS[0].prompt])
    torch.testing.assert_close(fresh(ids), plain(ids))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"follow": -1}, "follow is -1"),
        ({"head": "linear"}, "follow is 3: it needs the pointer head"),
        ({"prefix": False, "head": "linear", "follow": 0}, "marks need a prefix decoder"),
    ],
)
def test_features_that_cannot_be_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        dataclasses.replace(CONFIG, **changes)  # type: ignore[arg-type]
