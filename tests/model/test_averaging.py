"""Means of weights: exact at the ends and between, and only of the same network."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model.errors import ModelError
from model.training.averaging import average_with, weights_of


def _network(value: float) -> nn.Linear:
    network = nn.Linear(2, 3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(value)
    return network


@pytest.mark.parametrize(("share", "expected"), [(0.0, 8.0), (0.25, 7.0), (0.5, 6.0), (1.0, 4.0)])
def test_a_share_of_the_start_and_the_rest_of_the_model(share: float, expected: float) -> None:
    model, start = _network(8.0), _network(4.0)
    average_with(model, [(start.state_dict(), share)])
    assert all(torch.equal(p, torch.full_like(p, expected)) for p in model.parameters())
    assert all(torch.equal(p, torch.full_like(p, 4.0)) for p in start.parameters())
    assert all(p.requires_grad for p in model.parameters())


def test_the_mean_of_several() -> None:
    model = _network(8.0)
    average_with(model, [(_network(4.0).state_dict(), 0.25), (_network(2.0).state_dict(), 0.5)])
    assert all(torch.equal(p, torch.full_like(p, 4.0)) for p in model.parameters())
    average_with(model, [(_network(1.0).state_dict(), 0.5), (_network(3.0).state_dict(), 0.5)])
    assert all(torch.equal(p, torch.full_like(p, 2.0)) for p in model.parameters())
    third = _network(3.0).state_dict()
    average_with(model, [(third, 1 / 3), (third, 1 / 3), (third, 1 / 3)])  # comes to 1 but for rounding
    assert all(torch.allclose(p, torch.full_like(p, 3.0)) for p in model.parameters())
    with pytest.raises(ModelError, match=r"come to 1\.1"):
        average_with(model, [(third, 0.6), (third, 0.5)])


def test_weights_kept_are_not_the_models_own() -> None:
    model = _network(1.0)
    kept = weights_of(model)
    with torch.no_grad():
        model.weight.fill_(2.0)
    assert torch.equal(kept["weight"], torch.ones_like(model.weight)) and not kept["weight"].requires_grad


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_what_is_no_share(share: float) -> None:
    with pytest.raises(ModelError, match=r"in \[0, 1\]"):
        average_with(_network(1.0), [(_network(2.0).state_dict(), share)])


def test_another_network_is_named_and_nothing_changed() -> None:
    model = _network(1.0)
    with pytest.raises(ModelError, match="bias, weight"):
        average_with(model, [(nn.Linear(2, 2).state_dict(), 0.5)])
    with pytest.raises(ModelError, match="bias"):
        average_with(model, [({"weight": model.weight.detach() + 1}, 0.5)])
    assert all(torch.equal(p, torch.ones_like(p)) for p in model.parameters())
