"""Check a loaded decoder for self-consistency and against transformers.

Suitable for checkpoints of any size: a short prompt, a few greedy tokens, and only one of the two models in memory.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from model.checkpoints.gguf.files import is_gguf, open_gguf
from model.checkpoints.gguf.tensors import ROPE_FACTORS
from model.decoder.decoder import Decoder
from model.errors import ModelError


@dataclass(frozen=True, slots=True)
class Run:
    """Results of one model for a prompt.

    logits: (T, V) of the prompt in fp32. tokens: greedy tokens after it. choices: logits (V) that each token was chosen
    from.
    """

    logits: Tensor
    tokens: tuple[int, ...]
    choices: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class SplitDifferences:
    """Largest differences of the logits from those of one uncached pass.

    cached: token by token with the cache. chunked: in chunks with the cache. padded: left-padded in a batch.
    """

    cached: float
    chunked: float
    padded: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of our results with those of a reference.

    logit_difference: largest absolute difference of the prompt's logits. equal_tokens: number of the ``tokens`` greedy
    tokens before the first difference. tie: whether the logits at that difference are equal up to rounding.
    """

    logit_difference: float
    tolerance: float
    equal_tokens: int
    tokens: int
    tie: bool

    @property
    def passed(self) -> bool:
        """Whether the results agree up to rounding."""
        return self.logit_difference <= self.tolerance and (self.tie or self.equal_tokens == self.tokens)


# Relative to the largest logit. fp32: the bound of the parity tests. The others allow a few units in the last place
# (2^-11, 2^-8), which is the effect of another order of operations over tens of layers.
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def tolerance(dtype: torch.dtype, logits: Tensor) -> float:
    """Return the maximum difference of logits between two correct implementations in ``dtype``."""
    return _TOLERANCE[dtype] * max(1.0, float(logits.abs().max()))


@torch.inference_mode()
def our_run(model: Decoder, prompt: Tensor, steps: int) -> Run:
    """Run the prompt (1, T) in one uncached pass, then decode ``steps`` greedy tokens with the cache."""
    logits = model.logits(model(prompt))[0].float()
    cache = model.new_cache(1, prompt.shape[1] + steps)
    hidden, tokens, choices = model(prompt, cache), [], []
    for step in range(steps):
        choices.append(model.logits(hidden[:, -1])[0].float())
        tokens.append(int(choices[-1].argmax()))
        if step + 1 < steps:
            hidden = model(prompt.new_tensor([tokens[-1:]]), cache)
    return Run(logits, tuple(tokens), tuple(choices))


@torch.inference_mode()
def split_differences(model: Decoder, prompt: Tensor, expected: Tensor) -> SplitDifferences:
    """Return how far other ways to compute the prompt's logits differ from one uncached pass.

    prompt: (1, T). expected: (T, V), the logits of the uncached pass.
    """
    length = prompt.shape[1]
    return SplitDifferences(
        cached=_max_difference(_in_parts(model, prompt, (1,) * length), expected),
        chunked=_max_difference(_in_parts(model, prompt, _chunks(length)), expected),
        padded=_max_difference(_left_padded(model, prompt), expected),
    )


def _max_difference(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).abs().max())


def _chunks(length: int) -> tuple[int, ...]:
    first = max(1, length * 2 // 5)
    return tuple(size for size in (first, 1, length - first - 1) if size > 0 and length > 1) or (length,)


def _in_parts(model: Decoder, prompt: Tensor, split: tuple[int, ...]) -> Tensor:
    cache = model.new_cache(1, prompt.shape[1])
    parts = prompt.split_with_sizes(split, dim=1)
    return torch.cat([model.logits(model(part, cache))[0].float() for part in parts])


def _left_padded(model: Decoder, prompt: Tensor) -> Tensor:
    """Return the prompt's logits from a batch in which a longer first row makes it left-padded."""
    length = prompt.shape[1]
    pad = min(3, model.config.max_positions - length)
    total = length + pad
    column = torch.arange(total, device=prompt.device)
    starts = torch.tensor([[0], [pad]], device=prompt.device)
    real = column[None] >= starts  # (2, T)
    causal = column[None, :] <= column[:, None]
    mask = (causal & real[:, None]) | torch.eye(total, dtype=torch.bool, device=prompt.device)
    longer = torch.cat((prompt[:, :pad].expand(1, pad), prompt), dim=1).expand(2, -1)
    hidden = model(longer, mask=mask[:, None], positions=(column[None] - starts).clamp(min=0))
    return model.logits(hidden[1, pad:]).float()


@torch.inference_mode()
def reference_run(folder: Path, prompt: Tensor, steps: int, *, dtype: torch.dtype, device: torch.device | str) -> Run:
    """Do what ``our_run`` does with transformers and its plain ("eager") attention.

    Nothing is downloaded and no code from a checkpoint is run. Raises ModelError if transformers cannot load the
    checkpoint.
    """
    model = _load_reference(folder, dtype, device)
    result = model(prompt)
    logits = result.logits[0].float()
    cached, tokens, choices = model(prompt, use_cache=True), [], []
    for step in range(steps):
        choices.append(cached.logits[0, -1].float())
        tokens.append(int(choices[-1].argmax()))
        if step + 1 < steps:
            ids = prompt.new_tensor([tokens[-1:]])
            cached = model(ids, past_key_values=cached.past_key_values, use_cache=True)
    return Run(logits, tuple(tokens), tuple(choices))


def _load_reference(folder: Path, dtype: torch.dtype, device: torch.device | str) -> Any:
    library = importlib.import_module("transformers")  # slow import
    # transformers reads only the first part of a GGUF model, and ignores Llama 3.1's frequency factors.
    gguf = {"gguf_file": folder.name} if is_gguf(folder) else {}
    if gguf and (len(open_gguf(folder).files) > 1 or ROPE_FACTORS in open_gguf(folder).names):
        raise ModelError(
            f"{folder}: transformers, the reference, cannot read a GGUF file of several parts or with {ROPE_FACTORS}"
        )
    with _quiet():
        try:
            model = library.AutoModelForCausalLM.from_pretrained(
                str(folder.parent if gguf else folder),
                **gguf,
                trust_remote_code=False,
                local_files_only=True,
                use_safetensors=True,
                dtype=dtype,
                attn_implementation="eager",
            )
        except (OSError, ValueError, TypeError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
            reason = " ".join(str(error).split())[:400]
            raise ModelError(f"{folder}: transformers, the reference, cannot load it: {reason}") from error
    return model.to(device).eval()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers' progress bars and warnings, and restore both afterwards."""
    logging = importlib.import_module("transformers.utils.logging")
    bar, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def compare(ours: Run, reference: Run, allowed: float) -> Comparison:
    """Compare the prompt's logits and the greedy tokens of two runs. allowed: largest difference due to rounding."""
    equal = next(
        (n for n, (a, b) in enumerate(zip(ours.tokens, reference.tokens, strict=True)) if a != b), len(ours.tokens)
    )
    tie = False
    if equal < len(ours.tokens):
        # Both models have read the same tokens so far. If the two logits are equal up to rounding, both are right.
        logits = ours.choices[equal]
        tie = float(logits[ours.tokens[equal]] - logits[reference.tokens[equal]]) <= 2 * allowed
    return Comparison(_max_difference(ours.logits, reference.logits), allowed, equal, len(ours.tokens), tie)
