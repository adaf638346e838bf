"""Feed-forward layers and the transformer block, in the variants of DecoderConfig."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from model.decoder.attention import Attention
from model.decoder.attention_state import AttentionState
from model.decoder.config import DecoderConfig
from model.decoder.norms import make_norm
from model.decoder.rotary import Rotation


class SwiGLU(nn.Module):
    """The feed-forward layer down(silu(gate(x)) * up(x)) (Shazeer 2020, eq. 6). gate and up are one matrix."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.gate_up = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=config.mlp_bias)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, E) -> (B, T, E)."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        out: Tensor = self.down(F.silu(gate) * up)
        return out


class GeluMLP(nn.Module):
    """The feed-forward layer down(gelu(up(x))), with erf or the tanh approximation (Hendrycks and Gimpel 2016)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.approximate = "tanh" if config.activation == "gelu_tanh" else "none"
        self.up = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, E) -> (B, T, E)."""
        out: Tensor = self.down(F.gelu(self.up(x), approximate=self.approximate))
        return out


class Block(nn.Module):
    """A transformer block: attention and feed-forward, each with a residual, normalised before it or after the sum."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.post = config.norm_position == "post"
        self.attention = Attention(config, layer)
        self.attention_norm = make_norm(config)
        self.mlp: nn.Module = SwiGLU(config) if config.activation == "swiglu" else GeluMLP(config)
        self.mlp_norm = make_norm(config)

    def forward(
        self, x: Tensor, mask: Tensor | None, rotation: Rotation | None, state: AttentionState | None
    ) -> Tensor:
        """Return the block's output (B, T, E). mask, rotation, state: as in ``Attention.forward``."""
        if self.post:
            x = self.attention_norm(x + self.attention(x, mask, rotation, state))
            out: Tensor = self.mlp_norm(x + self.mlp(x))
            return out
        x = x + self.attention(self.attention_norm(x), mask, rotation, state)
        summed: Tensor = x + self.mlp(self.mlp_norm(x))
        return summed
