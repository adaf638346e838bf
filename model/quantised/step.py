"""Run decoding steps of few rows with grouped weights, and an 8-bit head."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.decoder.attention import Attention
from model.decoder.blocks import Block, SwiGLU
from model.decoder.decoder import Decoder
from model.decoder.norms import RMSNorm
from model.decoder.rotary import Rotation
from model.engine_state.unshared_reads import ONE_AT_A_TIME
from model.errors import ModelError
from model.quantised.groups import GroupedMatrix
from model.quantised.kernel import LANES
from model.quantised.step_kernel import decode_step, product
from model.quantised.store import StoreBuilder, WeightStore
from model.row_steps import RowReads, RowState

MATRICES = ("attention.qkv", "attention.out", "mlp.gate", "mlp.up", "mlp.down")
"""Names of the matrices of a block, in the order of the kernel's table."""


class QuantisedStep:
    """Decoding steps of any number of rows, in which a row's results do not depend on other rows (step_kernel.py).

    model: provides norms, biases, embedding and angles; it must not be packed yet. matrices: by "blocks.LAYER.NAME",
    for each name in MATRICES. Raises ModelError for a decoder of another kind.
    """

    def __init__(self, model: Decoder, matrices: Mapping[str, GroupedMatrix]) -> None:
        if model.rotary is None or not isinstance(model.final_norm, RMSNorm):
            raise ModelError("a decoder without rotary positions or RMS norms has no step of grouped weights")
        self._config, self._embedding, self._rotary = model.config, model.embedding, model.rotary
        builder = StoreBuilder()
        table, layers = [], []
        self._windows = list(dict.fromkeys(model.config.window(layer) for layer in range(model.config.num_layers)))
        for layer, block in enumerate(model.blocks):
            if not (isinstance(block, Block) and isinstance(block.mlp, SwiGLU)):
                raise ModelError(f"block {layer} of the decoder has no SwiGLU: it has no step of grouped weights")
            biases = _biases(block.attention, block.mlp)
            table.append([builder.matrix(matrices[f"blocks.{layer}.{name}"], biases[name]) for name in MATRICES])
            norms = (block.attention_norm, block.mlp_norm, block.attention.query_norm, block.attention.key_norm)
            begins = [builder.vector(norm.weight) if isinstance(norm, RMSNorm) else -1 for norm in norms]
            window = self._windows.index(model.config.window(layer))
            layers.append([*begins, int(block.attention.rotated), window])
        self._final = builder.vector(model.final_norm.weight)
        self._matrices, self._layers = np.array(table), np.array(layers)
        self._store: WeightStore = builder.store()
        self._dims = (0,) * (model.config.head_dim // 4)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return self._store.nbytes

    def hidden(self, tokens: Tensor, state: RowState) -> Tensor:
        """Return the final hidden states (N, E) of tokens (N, 1) in fp32, and advance the state by one step.

        Raises ModelError past the last position.
        """
        rotation: Rotation = self._rotary(state.positions(1))  # (N, 1, 1, D)
        hidden: Tensor = self._embedding(tokens)[:, 0].float().contiguous()
        rows, dim = hidden.shape[0], self._config.head_dim
        ranges, offsets, order = _joined([state.row_reads(window) for window in self._windows])
        keys, values = state.numbers()
        threads = torch.get_num_threads()
        with ONE_AT_A_TIME:
            decode_step(
                threads,
                hidden.numpy(),
                self._store.codes,
                self._store.numbers,
                self._matrices,
                self._layers,
                self._final,
                np.float32(self._config.norm_eps),
                keys,
                values,
                state.slots.numpy(),
                rotation.cos.view(rows, dim).contiguous().numpy(),
                rotation.partner_sin.view(rows, dim).contiguous().numpy(),
                ranges,
                offsets,
                order,
                self._dims,
            )
        if torch.get_num_threads() != threads:  # numba's first call changes OpenMP's number of threads
            torch.set_num_threads(threads)
        state.advance(1)
        return hidden


class QuantisedHead:
    """The matrix of a head in groups, in which a row's results do not depend on other rows."""

    def __init__(self, matrix: GroupedMatrix) -> None:
        builder = StoreBuilder()
        self._fields = np.array(builder.matrix(matrix))
        self._store = builder.store()
        self._rows, self._columns = matrix.codes.shape
        self._width = -(-self._rows // LANES) * LANES

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return self._store.nbytes

    def __call__(self, x: Tensor) -> Tensor:
        """Return the logits (..., V) of x (..., E), in fp32."""
        flat = x.reshape(-1, self._columns).float().contiguous()
        out = torch.empty(flat.shape[0], self._width)
        threads = torch.get_num_threads()
        with ONE_AT_A_TIME:
            product(threads, flat.numpy(), self._store.codes, self._store.numbers, self._fields, out.numpy())
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        return out[:, : self._rows].view(*x.shape[:-1], self._rows)


def _biases(attention: Attention, mlp: SwiGLU) -> dict[str, Tensor | None]:
    both = mlp.gate_up.bias
    gate, up = (None, None) if both is None else both.chunk(2)
    parts = (attention.qkv.bias, attention.out.bias, gate, up, mlp.down.bias)
    return dict(zip(MATRICES, parts, strict=True))


def _joined(plans: list[RowReads]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the concatenated ranges of W plans, the offsets (W, R + 1) into them, and the orders (W, R)."""
    begins = np.cumsum([0, *(len(plan.ranges) for plan in plans[:-1])])
    offsets = np.stack([plan.offsets + begin for plan, begin in zip(plans, begins, strict=True)])
    return np.concatenate([plan.ranges for plan in plans]), offsets, np.stack([plan.order for plan in plans])
