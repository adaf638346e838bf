"""A reader's correction of when it declines: where it works, that all stays one distribution, and its file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.decoder.decline_head import Decline
from model.decoder.heads import HeadMemory, PointerHead
from model.errors import ModelError
from model.reader.prefix_decoder import (
    CONFIG,
    READER_CONFIG,
    continue_from,
    load_prefix_decoder,
    save_prefix_decoder,
    warm_start,
    with_decline,
    without_decline,
)
from tests.tiny_decoders import POINTER

V, E, P = POINTER.vocab_size, POINTER.hidden_size, 6
SMALL = replace(POINTER, follow=2, decline=4)
IDS = torch.tensor([[1, 5, 7, 5, 9, 2]])  # 1 is the marker
COPYABLE = torch.tensor([[True, True, True, True, True, False]])


def spoken(decline: Decline, seed: int = 0) -> Decline:
    """One that says something of every state."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in decline.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        decline.scale.fill_(0.6)
    return decline


def trained(decline: int = 4) -> PointerHead:
    """A head whose every part says something; the same beside the correction, whatever that is."""
    torch.manual_seed(3)
    head = PointerHead(replace(SMALL, decline=0))
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.7)
    if not decline:
        return head
    other = PointerHead(replace(SMALL, decline=decline))
    other.load_state_dict(head.state_dict(), strict=False)
    if other.decline is not None:
        spoken(other.decline)
    return other


def inputs(batch: int = 3) -> tuple[torch.Tensor, torch.Tensor, HeadMemory]:
    torch.manual_seed(1)
    memory = HeadMemory(torch.randn(batch, P, E), IDS.repeat(batch, 1), COPYABLE.repeat(batch, 1))
    return torch.randn(batch, E), torch.randn(V, E), memory


def test_the_formula_and_what_is_left_of_all_else() -> None:
    hidden, embedding, memory = inputs()
    plain, head = trained(0), trained()
    before = plain.next_token(hidden, embedding, memory)
    after = head.next_token(hidden, embedding, memory)
    assert head.decline is not None and before.copy is not None and after.copy is not None
    p = before.logprobs[:, 1].exp()
    states = torch.cat((hidden, memory.states[:, 0]), dim=1)
    inner = torch.nn.functional.gelu(states @ head.decline.inner.weight.T + head.decline.inner.bias)
    logits = inner @ head.decline.outer.weight[0] + head.decline.outer.bias
    expected = torch.sigmoid(0.6 * torch.log(p / (1 - p)) + logits)
    assert not torch.allclose(expected, p, atol=0.05)
    torch.testing.assert_close(after.logprobs[:, 1].exp(), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(after.logprobs.exp().sum(-1), torch.ones(3), atol=1e-5, rtol=0)
    others = [token for token in range(V) if token != 1]
    share = ((1 - expected) / (1 - p))[:, None]
    torch.testing.assert_close(
        after.logprobs[:, others].exp(), before.logprobs[:, others].exp() * share, atol=1e-6, rtol=1e-4
    )
    # A token's copied share stays what it was.
    tokens = IDS.repeat(3, 1)
    torch.testing.assert_close(
        after.copy / after.logprobs.exp().gather(1, tokens), before.copy / before.logprobs.exp().gather(1, tokens)
    )


def test_targets_and_next_tokens_agree() -> None:
    hidden, embedding, memory = inputs()
    head = trained()
    every = torch.arange(V).expand(3, V)
    logprobs = head.next_token(hidden, embedding, memory).logprobs
    found = head.target_logprobs(hidden[:, None].expand(3, V, E), every, embedding, memory)
    torch.testing.assert_close(found, logprobs, atol=1e-4, rtol=1e-4)


def test_only_the_first_token_is_corrected() -> None:
    hidden, embedding, memory = inputs()
    plain, head = trained(0), trained()
    later = replace(memory, answer=torch.tensor([[5, 0]] * 3))
    assert torch.equal(
        head.next_token(hidden, embedding, later).logprobs, plain.next_token(hidden, embedding, later).logprobs
    )
    targets = torch.tensor([[5, 7], [1, 2], [9, 2]])
    states = torch.stack((hidden, hidden.flip(0)), dim=1)  # (3, 2, E)
    with_answer = replace(memory, answer=targets)
    before, after = (h.target_logprobs(states, targets, embedding, with_answer) for h in (plain, head))
    assert torch.equal(before[:, 1], after[:, 1])
    assert not torch.allclose(before[:, 0], after[:, 0], atol=0.05)
    first = head.next_token(hidden, embedding, replace(memory, answer=torch.zeros(3, 1, dtype=torch.long)))
    torch.testing.assert_close(after[:, 0], first.logprobs.gather(1, targets[:, :1])[:, 0], atol=1e-4, rtol=1e-4)


def test_where_the_marker_may_not_be_copied_nothing_is_corrected() -> None:
    hidden, embedding, memory = inputs()
    plain, head = trained(0), trained()
    none = replace(memory, copyable=memory.copyable & (memory.token_ids != 1))
    assert torch.equal(
        head.next_token(hidden, embedding, none).logprobs, plain.next_token(hidden, embedding, none).logprobs
    )


@pytest.mark.parametrize("pointed", [0.0, -1e-9, -1e-30, -200.0, -1e30])
def test_certain_pointers_stay_finite(pointed: float) -> None:
    decline = spoken(Decline(E, 4))
    declines, others = decline(torch.randn(2, 2 * E), torch.full((2,), pointed))
    assert declines.isfinite().all() and others.isfinite().all()
    assert (declines <= 0).all()


def test_as_made_it_changes_nothing() -> None:
    hidden, embedding, memory = inputs()
    plain = trained(0)
    head = PointerHead(SMALL)
    head.load_state_dict(plain.state_dict(), strict=False)
    torch.testing.assert_close(
        head.next_token(hidden, embedding, memory).logprobs, plain.next_token(hidden, embedding, memory).logprobs
    )


def test_a_readers_file_keeps_it_and_training_goes_on_without(tmp_path: Path) -> None:
    base = warm_start(3, num_layers=1).eval()
    decline = spoken(Decline(READER_CONFIG.hidden_size, 16), 4)
    with torch.no_grad():
        for parameter in [*base.parameters(), *decline.parameters()]:
            if parameter.requires_grad:
                parameter.copy_(parameter.half().float())
    model = with_decline(base, decline)
    save_prefix_decoder(model, tmp_path, {})
    assert json.loads((tmp_path / CONFIG).read_text())["features"]["decline"] == 16
    prompt = torch.tensor([[101, 2040, 2328, 102, 1, 6249, 2328, 102]])

    def first(reader: torch.nn.Module) -> torch.Tensor:
        with torch.inference_mode():
            states = reader(prompt)
            memory = HeadMemory(states, prompt, (prompt == 101) | (prompt >= 104))
            return reader.next_token(states[:, -1], memory).logprobs  # type: ignore[operator, no-any-return]

    loaded = load_prefix_decoder(tmp_path)
    assert torch.equal(first(loaded), first(model))
    assert torch.equal(first(without_decline(loaded)), first(base))
    assert not torch.allclose(first(model)[0, 101], first(base)[0, 101], atol=1e-3)
    further = continue_from(tmp_path)
    assert further.config.decline == 0
    assert {name for name, p in further.named_parameters() if not p.requires_grad} == {"embedding.weight"}
    assert torch.equal(first(further), first(base))


def test_a_linear_head_has_none() -> None:
    with pytest.raises(ModelError, match="decline is 4"):
        replace(SMALL, head="linear", follow=0)
    with pytest.raises(ModelError, match="decline is -1"):
        replace(SMALL, decline=-1)
