"""Groups of 32 numbers in 4 and 8 bits: rounding, a file's own blocks, and products with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from model.checkpoints.gguf.blocks import stored_matrices
from model.checkpoints.gguf.files import open_gguf
from model.checkpoints.loading import load_decoder
from model.engine_state.int8 import quantised
from model.errors import ModelError
from model.quantised.groups import GroupedMatrix, rounded, stacked
from model.quantised.step import QuantisedHead
from tests.gguf_files import write


def weight(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * 0.05


@pytest.mark.parametrize("bits", [4, 8])
def test_a_rounded_number_is_half_a_step_away_at_most(bits: int) -> None:
    plain = weight(7, 96)
    matrix = rounded(plain, bits, "w")
    assert matrix.bits == bits
    steps = matrix.scales.repeat_interleave(32, dim=1)
    assert bool(((matrix.dequantised() - plain).abs() <= 0.5001 * steps).all())
    # Once rounded, always the same.
    again = rounded(matrix.dequantised(), bits, "w")
    assert torch.allclose(again.dequantised(), matrix.dequantised(), atol=1e-6)


def test_eight_bits_in_groups_lose_less_than_a_scale_for_a_whole_channel() -> None:
    plain = weight(16, 256) * torch.linspace(0.1, 3.0, 256)  # columns of different sizes
    codes, scales = quantised(plain)
    full = (codes * scales[:, None] - plain).abs().mean()
    assert (rounded(plain, 8, "w").dequantised() - plain).abs().mean() < 0.8 * full


@pytest.mark.parametrize("bits", [4, 8])
def test_groups_of_equal_numbers_are_exact(bits: int) -> None:
    plain = torch.tensor([[0.0] * 32 + [0.375] * 32, [-2.5] * 32 + [0.0] * 32])
    assert torch.allclose(rounded(plain, bits, "w").dequantised(), plain, atol=1e-7)


@pytest.mark.parametrize("columns", [1, 31, 33, 48])
def test_columns_that_do_not_fill_groups_are_refused(columns: int) -> None:
    with pytest.raises(ModelError, match=rf"mlp\.down.*{columns}"):
        rounded(weight(4, columns), 4, "mlp.down")


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(bits: int, number: float) -> None:
    plain = weight(4, 64)
    plain[2, 40] = number
    with pytest.raises(ModelError, match="head"):
        rounded(plain, bits, "head")


def test_matrices_of_different_bits_are_not_stacked() -> None:
    with pytest.raises(ValueError, match="4 and of 8"):
        stacked([rounded(weight(2, 32), 4, "a"), rounded(weight(2, 32), 8, "b")])


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(("outputs", "columns"), [(16, 32), (37, 96), (5, 160)])
def test_products_are_those_of_the_dequantised_numbers(bits: int, outputs: int, columns: int) -> None:
    """Within 1e-6 of the sum of the factors' sizes: what fp32 sums of 160 products may differ by."""
    matrix = rounded(weight(outputs, columns, bits), bits, "w")
    x = torch.randn(7, columns, generator=torch.Generator().manual_seed(1))
    found = QuantisedHead(matrix)(x)
    expected = x.double() @ matrix.dequantised().double().t()
    sizes = x.double().abs() @ matrix.dequantised().double().abs().t()
    assert found.shape == (7, outputs)
    assert bool(((found - expected).abs() <= 1e-6 * sizes + 1e-6).all())


@pytest.mark.parametrize("bits", [4, 8])
def test_a_row_is_the_same_bits_alone_and_anywhere_among_others(bits: int) -> None:
    head = QuantisedHead(rounded(weight(37, 96), bits, "w"))
    x = torch.randn(9, 96, generator=torch.Generator().manual_seed(2))
    together = head(x)
    for row in range(9):
        assert torch.equal(head(x[row : row + 1])[0], together[row])
    for count in (2, 3, 4, 5, 8):
        assert torch.equal(head(x[:count]), together[:count])


@pytest.mark.parametrize("bits", [4, 8])
def test_extreme_codes_and_signs(bits: int) -> None:
    columns = torch.arange(64)
    if bits == 4:
        codes = (columns % 2 * 15).to(torch.uint8).repeat(3, 1)
        minima = torch.tensor([[-1.5, 2.0], [0.0, 0.0], [-8.0, -8.0]])
        matrix = GroupedMatrix(codes, torch.tensor([[0.5, -0.25], [1.0, 2.0], [0.0, 1.0]]), minima)
    else:
        codes = torch.where(columns % 2 == 0, -128, 127).to(torch.int8).repeat(3, 1)
        matrix = GroupedMatrix(codes, torch.tensor([[0.5, -0.25], [1.0, 2.0], [0.0, 1.0]]), None)
    x = torch.linspace(-1, 1, 64)[None]
    assert torch.allclose(QuantisedHead(matrix)(x), x @ matrix.dequantised().t(), atol=1e-3, rtol=1e-5)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_blocks_of_a_file_are_what_they_dequantise_to(tmp_path: Path, kind: str, family: str) -> None:
    """Exactly, in the rows' order that a decoder has (llama's queries and keys lie permuted in the file)."""
    written = write(tmp_path / "m.gguf", family, quantised=kind)
    model = load_decoder(written.file)
    found = stored_matrices(open_gguf(written.file), model.config.num_layers)
    assert {name.partition(".")[0] for name in found} >= {"blocks"}
    block = model.blocks[1]
    gate, up = block.mlp.gate_up.weight.chunk(2)  # type: ignore[union-attr]
    assert torch.equal(found["blocks.1.attention.qkv"].dequantised(), block.attention.qkv.weight)  # type: ignore[union-attr]
    assert torch.equal(found["blocks.1.mlp.gate"].dequantised(), gate)
    assert torch.equal(found["blocks.1.mlp.up"].dequantised(), up)
    assert torch.equal(found["blocks.0.mlp.down"].dequantised(), model.blocks[0].mlp.down.weight)  # type: ignore[union-attr]
    assert {matrix.bits for name, matrix in found.items() if name != "head"} == {8 if kind == "Q8_0" else 4}


@pytest.mark.parametrize("kind", ["F16", "Q5_1"])
def test_other_types_have_no_blocks_to_take(tmp_path: Path, kind: str) -> None:
    written = write(tmp_path / "m.gguf", quantised=kind)
    assert not [name for name in stored_matrices(open_gguf(written.file), 2) if name.startswith("blocks")]


def test_codes_beyond_four_bits_cannot_occur() -> None:
    matrix = rounded(weight(3, 64) * 1e6, 4, "w")
    assert int(matrix.codes.max()) <= 15 and matrix.codes.dtype == torch.uint8
    assert np.isfinite(matrix.scales.numpy()).all()
