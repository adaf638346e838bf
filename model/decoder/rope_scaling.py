"""Frequencies of rotary positions, plain and scaled to longer contexts, as transformers 5 computes them.

Each kind of scaling has ``frequencies`` and ``magnitude``, the factor by which cosines and sines are multiplied. The
operations and their order are those of transformers' modeling_rope_utils, because at position 131,072 a different
rounding already gives a different angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import ModelError


def default_frequencies(head_dim: int, theta: float) -> Tensor:
    """Return the frequencies theta^(-2i/D), (D/2) in fp32 (Su et al. 2021, RoFormer, eq. 15).

    They are computed as 1 / theta^x, as for the published checkpoints. theta^-x rounds differently: at position 131,072
    the angle would differ by 0.008 radians.
    """
    return 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)


@dataclass(frozen=True, slots=True)
class LinearScaling:
    """Position interpolation: all frequencies are divided by ``factor`` (Chen et al. 2023, eq. 4)."""

    factor: float

    def __post_init__(self) -> None:
        _positive(self, "factor")

    @property
    def kind(self) -> str:
        """The name in config.json."""
        return "linear"

    @property
    def magnitude(self) -> float:
        """Factor for cosines and sines."""
        return 1.0

    def frequencies(self, head_dim: int, theta: float) -> Tensor:
        """(D/2) in fp32."""
        return default_frequencies(head_dim, theta) / self.factor


@dataclass(frozen=True, slots=True)
class DynamicScaling:
    """Dynamic NTK scaling, limited to the trained context, where ``factor`` has no effect.

    Beyond the trained context the frequencies depend on the length, so every new token changes the rotation of all
    positions and cached keys become wrong. Plumbline therefore refuses inputs longer than max_position_embeddings.
    """

    factor: float

    def __post_init__(self) -> None:
        _positive(self, "factor")

    @property
    def kind(self) -> str:
        """The name in config.json."""
        return "dynamic"

    @property
    def magnitude(self) -> float:
        """Factor for cosines and sines."""
        return 1.0

    def frequencies(self, head_dim: int, theta: float) -> Tensor:
        """(D/2) in fp32."""
        return default_frequencies(head_dim, theta)


@dataclass(frozen=True, slots=True)
class Llama3Scaling:
    """Scaling of Llama 3.1, which depends on the wavelength.

    Wavelengths longer than original / low_freq_factor are interpolated, those shorter than original / high_freq_factor
    are unchanged, and those between are a mixture.
    """

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_positions: int

    def __post_init__(self) -> None:
        for name in ("factor", "low_freq_factor", "high_freq_factor", "original_positions"):
            _positive(self, name)
        if self.low_freq_factor >= self.high_freq_factor:
            raise ModelError(
                f"llama3 rope: low_freq_factor is {self.low_freq_factor}, it must be below high_freq_factor "
                f"({self.high_freq_factor})"
            )

    @property
    def kind(self) -> str:
        """The name in config.json."""
        return "llama3"

    @property
    def magnitude(self) -> float:
        """Factor for cosines and sines."""
        return 1.0

    def frequencies(self, head_dim: int, theta: float) -> Tensor:
        """(D/2) in fp32."""
        plain = default_frequencies(head_dim, theta)
        long, short = (self.original_positions / f for f in (self.low_freq_factor, self.high_freq_factor))
        wavelengths = 2 * math.pi / plain
        slow = torch.where(wavelengths > long, plain / self.factor, plain)
        share = (self.original_positions / wavelengths - self.low_freq_factor) / (
            self.high_freq_factor - self.low_freq_factor
        )
        mixed = (1 - share) * slow / self.factor + share * slow
        between = ~(wavelengths < short) & ~(wavelengths > long)
        return torch.where(between, mixed, slow)


@dataclass(frozen=True, slots=True)
class YarnScaling:
    """YaRN scaling (Peng et al. 2023), which depends on a dimension's number of turns in the original context.

    Dimensions with fewer than beta_slow turns are interpolated, those with more than beta_fast turns are unchanged, and
    those between follow a linear ramp. Attention is sharpened by ``magnitude``. attention_factor: overrides the
    magnitude. mscale, mscale_all_dim: DeepSeek's form of the magnitude. truncate: whether the ends of the ramp are
    rounded outwards to integer dimensions.
    """

    factor: float
    original_positions: int
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True

    def __post_init__(self) -> None:
        for name in ("factor", "original_positions", "beta_fast", "beta_slow"):
            _positive(self, name)
        if self.attention_factor is not None:
            _positive(self, "attention_factor")
        if self.beta_fast < self.beta_slow:
            raise ModelError(f"yarn rope: beta_fast is {self.beta_fast}, it must not be below beta_slow")

    @property
    def kind(self) -> str:
        """The name in config.json."""
        return "yarn"

    @property
    def magnitude(self) -> float:
        """Factor for cosines and sines: 0.1 ln(factor) + 1 (their eq. 22) by default."""
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale and self.mscale_all_dim:
            return _mscale(self.factor, self.mscale) / _mscale(self.factor, self.mscale_all_dim)
        return _mscale(self.factor, 1.0)

    def frequencies(self, head_dim: int, theta: float) -> Tensor:
        """(D/2) in fp32."""
        powers = theta ** (torch.arange(0, head_dim, 2).to(torch.float32) / head_dim)
        kept, interpolated = 1.0 / powers, 1.0 / (self.factor * powers)
        low, high = (self._dimension(turns, head_dim, theta) for turns in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_dim - 1)
        if low == high:
            high += 0.001
        ramp = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / (high - low)).clamp(0, 1)
        keep = 1 - ramp
        return interpolated * (1 - keep) + kept * keep

    def _dimension(self, turns: float, head_dim: int, theta: float) -> float:
        """Return the dimension that makes ``turns`` turns within the original context (their eq. 17)."""
        return (head_dim * math.log(self.original_positions / (turns * 2 * math.pi))) / (2 * math.log(theta))


RopeScaling = LinearScaling | DynamicScaling | Llama3Scaling | YarnScaling


def _mscale(factor: float, mscale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _positive(value: object, name: str) -> None:
    number = getattr(value, name)
    if not (math.isfinite(number) and number > 0):
        raise ModelError(f"{type(value).__name__}: {name} is {number}, it must be a positive number")
