"""The pointer head: a proper distribution, the same by both ways in, trainable from its start."""

from __future__ import annotations

import pytest
import torch

from model.decoder.heads import HeadMemory, PointerHead
from tests.tiny_decoders import POINTER as CONFIG

V, E, P = CONFIG.vocab_size, CONFIG.hidden_size, 6
IDS = torch.tensor([[1, 5, 7, 5, 9, 2]])
COPYABLE = torch.tensor([[False, True, True, True, True, False]])


def trained(seed: int = 0) -> PointerHead:
    """A head whose every part says something: no weight at its start."""
    torch.manual_seed(seed)
    head = PointerHead(CONFIG)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.7)
    return head


def inputs(batch: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor, HeadMemory]:
    torch.manual_seed(seed)
    memory = HeadMemory(torch.randn(batch, P, E), IDS.repeat(batch, 1), COPYABLE.repeat(batch, 1))
    return torch.randn(batch, E), torch.randn(V, E), memory


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_sum_to_one_and_equal_those_of_targets(seed: int) -> None:
    head = trained(seed)
    hidden, embedding, memory = inputs(3, seed)
    logprobs = head.next_token(hidden, embedding, memory).logprobs
    torch.testing.assert_close(logprobs.exp().sum(-1), torch.ones(3), atol=1e-5, rtol=0)
    every = torch.arange(V).expand(3, V)
    states = hidden[:, None].expand(3, V, E)
    torch.testing.assert_close(head.target_logprobs(states, every, embedding, memory), logprobs, atol=1e-4, rtol=1e-4)


def test_mixture_is_see_et_al_equation_9() -> None:
    head = trained()
    hidden, embedding, memory = inputs(1)
    keys, query = head.key(memory.states[0]), head.query(hidden[0])
    scores = (keys @ query / E**0.5).masked_fill(~COPYABLE[0], float("-inf"))
    a = torch.softmax(scores, dim=0)
    gate = torch.sigmoid(head.gate(torch.cat((hidden[0], a @ memory.states[0]))))
    state = hidden[0] + head.norm(torch.nn.functional.gelu(head.dense(hidden[0])))
    expected = gate * torch.softmax(embedding @ state + head.bias, dim=0)
    for position, token in enumerate(IDS[0].tolist()):
        expected[token] += (1 - gate[0]) * a[position]
    found = head.next_token(hidden, embedding, memory)
    torch.testing.assert_close(found.logprobs[0].exp(), expected, atol=1e-6, rtol=1e-4)
    assert found.copy is not None
    torch.testing.assert_close(found.copy[0], (1 - gate) * a, atol=1e-6, rtol=1e-4)


def test_nothing_is_copied_from_where_copying_is_not_allowed() -> None:
    hidden, embedding, memory = inputs(4)
    copy = trained().next_token(hidden, embedding, memory).copy
    assert copy is not None
    assert (copy[~memory.copyable] == 0).all()
    assert (copy[memory.copyable] > 0).all()


def test_without_any_copyable_token_the_vocabulary_speaks_alone() -> None:
    head = trained()
    hidden, embedding, memory = inputs(2)
    none = HeadMemory(memory.states, memory.token_ids, torch.zeros_like(memory.copyable))
    found = head.next_token(hidden, embedding, none)
    assert found.copy is not None
    assert not found.copy.any()
    torch.testing.assert_close(found.logprobs.exp().sum(-1), torch.ones(2), atol=1e-5, rtol=0)
    every = torch.arange(V).expand(2, V)
    targets = head.target_logprobs(hidden[:, None].expand(2, V, E), every, embedding, none)
    torch.testing.assert_close(targets, found.logprobs, atol=1e-4, rtol=1e-4)


def test_one_memory_serves_many_samples() -> None:
    head = trained()
    hidden, embedding, _ = inputs(5)
    _, _, memory = inputs(1)
    many = head.next_token(hidden, embedding, memory)
    for row in range(5):
        one = head.next_token(hidden[row : row + 1], embedding, memory)
        torch.testing.assert_close(many.logprobs[row : row + 1], one.logprobs)


def test_vocabulary_branch_starts_as_identity() -> None:
    torch.manual_seed(0)
    head = PointerHead(CONFIG)
    hidden, embedding, memory = inputs(3)
    none = HeadMemory(memory.states, memory.token_ids, torch.zeros_like(memory.copyable))
    plain = torch.log_softmax(hidden @ embedding.T, dim=-1)
    torch.testing.assert_close(head.next_token(hidden, embedding, none).logprobs, plain, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("target", [5, 9, 0, 2], ids=["twice", "once", "absent", "not copyable"])
@pytest.mark.parametrize("fresh", [True, False])
def test_gradients_are_finite_and_reach_every_part(target: int, fresh: bool) -> None:
    torch.manual_seed(0)
    head = PointerHead(CONFIG) if fresh else trained()
    hidden, embedding, memory = inputs(1)
    loss = -head.target_logprobs(hidden[:, None], torch.tensor([[target]]), embedding, memory).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in head.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    gate = head.gate.bias.grad
    assert gate is not None
    if target in (0, 2):  # not in what may be copied: gradient descent opens the gate to the vocabulary
        assert gate.item() < 0
    else:
        assert gate.item() != 0


def test_impossible_tokens_keep_a_finite_logprob() -> None:
    head = trained()
    with torch.no_grad():
        head.bias[3] = -1000.0
    hidden, embedding, memory = inputs(1)
    assert head.next_token(hidden, embedding, memory).logprobs.isfinite().all()


def test_a_memory_is_needed() -> None:
    hidden, embedding, _ = inputs(1)
    with pytest.raises(ValueError, match="prompt's states"):
        trained().next_token(hidden, embedding, None)
    with pytest.raises(ValueError, match="prompt's states"):
        trained().target_logprobs(hidden[:, None], torch.tensor([[1]]), embedding, None)
