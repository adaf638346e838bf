"""RotaryTable: norms kept, positions as given, fp32 arithmetic, gradients through the rotation."""

from __future__ import annotations

import math

import torch

from model.decoder.rotary import RotaryTable, rotate


def turned(table: RotaryTable, x: torch.Tensor, start: int) -> torch.Tensor:
    """x (B, H, T, D) rotated as positions start, start + 1, ..."""
    out: torch.Tensor = table(torch.arange(start, start + x.shape[2])[None]).apply(x)
    return out


def test_a_plane_turns_by_position_times_frequency() -> None:
    table = RotaryTable(head_dim=4, max_positions=8, theta=100.0)  # frequencies 1 and 0.1
    x = torch.zeros(1, 1, 8, 4)
    x[..., 0], x[..., 1] = 1.0, 1.0  # plane 0 is coordinates (0, 2), plane 1 is (1, 3)
    y = turned(table, x, 0)[0, 0]
    for t in range(8):
        expected = [math.cos(t), math.cos(0.1 * t), math.sin(t), math.sin(0.1 * t)]
        torch.testing.assert_close(y[t], torch.tensor(expected), atol=1e-6, rtol=0)


def test_rotation_keeps_lengths() -> None:
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
    y = turned(RotaryTable(8, 64, 10000.0), x, 40)
    torch.testing.assert_close(y.norm(dim=-1), x.norm(dim=-1))


def test_every_row_has_its_own_positions() -> None:
    table = RotaryTable(8, 32, 10000.0)
    x = torch.randn(2, 3, 4, 8, generator=torch.Generator().manual_seed(3))
    both = table(torch.tensor([[0, 1, 2, 3], [9, 4, 30, 5]])).apply(x)
    assert torch.equal(both[:1], turned(table, x[:1], 0))
    for step, position in enumerate((9, 4, 30, 5)):
        assert torch.equal(both[1:, :, step : step + 1], turned(table, x[1:, :, step : step + 1], position))


def test_start_continues_the_sequence() -> None:
    table = RotaryTable(8, 32, 10000.0)
    x = torch.randn(1, 2, 10, 8, generator=torch.Generator().manual_seed(1))
    full = turned(table, x, 3)
    parts = torch.cat((turned(table, x[:, :, :4], 3), turned(table, x[:, :, 4:], 7)), dim=2)
    assert torch.equal(full, parts)


def test_bf16_states_are_rotated_in_fp32() -> None:
    table = RotaryTable(8, 1024, 10000.0)
    x = torch.randn(1, 1, 4, 8, generator=torch.Generator().manual_seed(2)).bfloat16()
    y = turned(table, x, 1000)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, turned(table, x.float(), 1000).bfloat16())


def test_table_is_not_part_of_a_checkpoint() -> None:
    assert not RotaryTable(8, 16, 10000.0).state_dict()


def test_gradient_is_the_inverse_rotation() -> None:
    cos, sin = torch.tensor([[0.6]]), torch.tensor([[0.8]])
    x = torch.zeros(1, 1, 1, 2, requires_grad=True)
    rotate(x, cos, sin).backward(torch.tensor([[[[1.0, 0.0]]]]))  # type: ignore[no-untyped-call]
    assert x.grad is not None
    torch.testing.assert_close(x.grad.flatten(), torch.tensor([0.6, -0.8]))
