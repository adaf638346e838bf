"""Fitting when a reader declines: what is read, what is learned where there is something, and where there is not."""

from __future__ import annotations

import pytest
import torch

from generation.reader.probing import distributions
from model.decoder.decline_head import Decline
from model.errors import ModelError
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID, warm_start
from model.training.decline_fitting import FirstStates, first_states, fit_decline
from model.training.rows import TokenRow

SIZE = 6


def drawn(count: int, seed: int, *, telling: float) -> FirstStates:
    """Off-centre states of very unequal spreads, whose third entry tells beside the pointer."""
    torch.manual_seed(seed)
    states = torch.randn(count, SIZE) * torch.tensor([1.0, 0.01, 0.2, 5.0, 1.0, 1.0]) + 3.0
    pointed = -torch.rand(count) * 4 - 0.01
    odds = pointed - torch.log(-torch.expm1(pointed))
    odds = odds + telling * (states[:, 2] - 3.0) / 0.2
    return FirstStates(states, pointed, torch.rand(count) < torch.sigmoid(odds))


def test_what_the_states_tell_is_learned() -> None:
    before = torch.random.get_rng_state()
    train, held_out = drawn(3000, 1, telling=3), drawn(1000, 2, telling=3)
    torch.random.set_rng_state(before)
    decline, fit = fit_decline(train, held_out, seed=0)
    assert torch.equal(torch.random.get_rng_state(), before)  # nobody else's numbers move
    assert (fit.rows, fit.held, fit.used, fit.loss_begun) == (3000, 1000, "fitted", None)
    odds = held_out.pointed - torch.log(-torch.expm1(held_out.pointed)) + 3 * (held_out.states[:, 2] - 3.0) / 0.2
    best = float(torch.nn.functional.binary_cross_entropy_with_logits(odds, held_out.declines.float()))
    assert best < fit.loss_after < best + 0.12 < fit.loss_before - 0.15
    again, same = fit_decline(train, held_out, seed=0)
    assert same == fit
    assert all(
        torch.equal(a, b) for a, b in zip(decline.state_dict().values(), again.state_dict().values(), strict=True)
    )
    # What is returned is what a file of half precision gives back.
    assert all(torch.equal(t, t.half().float()) for t in decline.state_dict().values())


def test_what_other_articles_contradict_is_not_kept() -> None:
    _, fit = fit_decline(drawn(1000, 1, telling=3), drawn(1000, 2, telling=-3), seed=0)
    assert fit.used == "none"
    assert fit.loss_after > fit.loss_before


def test_an_earlier_one_is_kept_where_it_is_better_on_other_articles() -> None:
    held_out = drawn(1000, 2, telling=3)
    earlier, alone = fit_decline(drawn(3000, 1, telling=3), held_out, seed=0)
    _, fit = fit_decline(drawn(3000, 3, telling=0), held_out, seed=0, begun=earlier)
    assert (fit.used, fit.loss_begun) == ("begun", alone.loss_after)
    _, other = fit_decline(
        drawn(3000, 1, telling=3), held_out, seed=0, begun=Decline(earlier.inner.in_features // 2, 4)
    )
    assert other.used == "fitted" and other.loss_begun is not None


@pytest.mark.parametrize("name", ["train", "held"])
def test_both_kinds_are_needed(name: str) -> None:
    found = {"train": drawn(50, 1, telling=3), "held": drawn(50, 2, telling=3)}
    found[name] = FirstStates(found[name].states, found[name].pointed, torch.zeros(50, dtype=torch.bool))
    with pytest.raises(ModelError, match=f"{name}"):
        fit_decline(found["train"], found["held"], seed=0)


def test_states_are_those_of_each_row_read_alone() -> None:
    model = warm_start(3, num_layers=1).eval()
    with torch.no_grad():  # the marks are zero at the start
        torch.nn.init.normal_(model.marks.weight, std=0.05)  # type: ignore[union-attr]
    rows = [
        TokenRow((101, 2040, 2328, 2009, 102, 1, 6249, 26149, 2328, 1996, 2422, 102), (26149, 2328, 102)),
        TokenRow((101, 2073, 102, 1, 6249, 102), (NULL_ID, 102)),
        TokenRow((101, 2040, 2328, 102, 1, 2422, 2003, 2, 1996, 102), (NULL_ID, 102)),
    ]
    reports: list[tuple[int, int]] = []
    found = first_states(
        model,
        rows,
        null_id=NULL_ID,
        first_copyable_id=FIRST_COPYABLE_ID,
        tokens_per_batch=25,
        progress=lambda done, total: reports.append((done, total)),
    )
    assert reports[-1] == (3, 3) and len(reports) == 2
    assert found.declines.tolist() == [False, True, True]
    with torch.inference_mode():
        for place, row in enumerate(rows):
            ids = torch.tensor([row.prompt])
            states = model(ids)[0]
            torch.testing.assert_close(found.states[place], torch.cat((states[-1], states[0])), atol=1e-4, rtol=1e-4)
            alone = distributions(model, row.prompt, ())[0, NULL_ID]
            torch.testing.assert_close(found.pointed[place], alone, atol=1e-4, rtol=1e-4)
