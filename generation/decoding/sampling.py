"""Sample tokens from logits: bias, penalty, min_tokens, temperature, top-k, top-p, min-p, and a seeded draw.

The order is that of transformers (GenerationMixin._get_logits_processor): logit bias, repetition penalty, end tokens
excluded before min_tokens; then temperature, top-k, top-p of the tokens kept by top-k, min-p. Unlike transformers,
which keeps every token that ties with the k-th likeliest, exactly k tokens are kept, lowest IDs first.

A row's result does not depend on the other rows, to the last bit. On a CPU every step works on one row or one element
at a time. On a GPU the summation order over the vocabulary depends on the number of rows, so sums are taken over
integers (multiples of 2**-62), where order changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from generation.decoding.params import SamplingParams
from generation.decoding.truncation import truncate_batch, truncate_row
from generation.errors import ModelOutputError, ParameterError
from model.decoder.sampling_math import repetition_penalised, tempered_softmax, tempered_weights

_UNIT = 2.0**62
_CHUNK = 8  # rows at a time on a CPU: their float64 probabilities fit in its cache


def kept_probabilities(logprobs: Tensor, params: SamplingParams | Sequence[SamplingParams]) -> Tensor:
    """Return probabilities (B, V) in float64 after temperature, top-k, top-p and min-p, renormalised.

    logprobs: log-probabilities (B, V), or logits, since an added constant changes nothing. params: one for all rows, or
    one for each row.

    Temperature 0 is the limit tau -> 0: all mass is on the likeliest token, the lowest ID among ties. Top-p keeps the
    smallest set of likeliest tokens whose total probability reaches p (Holtzman et al. 2020, eq. 2), at least one.
    Min-p keeps the tokens that are at least min_p times as likely as the likeliest one (Nguyen et al. 2024, section 3).
    """
    rows = _each(params, len(logprobs))
    out = torch.zeros(logprobs.shape, dtype=torch.float64, device=logprobs.device)
    greedy = [i for i, row in enumerate(rows) if row.temperature == 0]
    if greedy:
        out[greedy, _some(logprobs, greedy).argmax(dim=-1)] = 1.0
    for chosen in _warm(rows, logprobs.device):
        out[chosen] = _warm_probabilities(_some(logprobs, chosen), [rows[i] for i in chosen])
    return out


def draw_tokens(scores: Tensor, params: Sequence[SamplingParams], uniforms: Sequence[float]) -> Tensor:
    """Return one token ID for each row (B).

    scores: logits or log-probabilities (B, V). params: sampling parameters of each row. uniforms: a number in [0, 1)
    for each row. The tokens are those of ``draw(kept_probabilities(scores, params), uniforms)``, but a greedy row costs
    only an argmax.
    """
    rows = _each(params, len(scores))
    if len(uniforms) != len(rows):
        raise ValueError(f"{len(uniforms)} uniforms for {len(rows)} rows")
    out = torch.empty(len(rows), dtype=torch.long, device=scores.device)
    greedy = [i for i, row in enumerate(rows) if row.temperature == 0]
    if greedy:
        out[greedy] = _some(scores, greedy).argmax(dim=-1)
    for chosen in _warm(rows, scores.device):
        probabilities = _warm_probabilities(_some(scores, chosen), [rows[i] for i in chosen])
        out[chosen] = draw(probabilities, [uniforms[i] for i in chosen])
    return out


def _each(params: SamplingParams | Sequence[SamplingParams], rows: int) -> Sequence[SamplingParams]:
    if isinstance(params, SamplingParams):
        return [params] * rows
    if len(params) != rows:
        raise ValueError(f"{len(params)} sampling parameters for {rows} rows")
    return params


def _some(scores: Tensor, chosen: Sequence[int]) -> Tensor:
    """Return the chosen rows, whose indices are ascending, without a copy if they are contiguous."""
    first, last = chosen[0], chosen[-1] + 1
    return scores[first:last] if last - first == len(chosen) else scores[list(chosen)]


def _warm(rows: Sequence[SamplingParams], device: torch.device) -> list[list[int]]:
    """Return the indices of the rows with a positive temperature, in groups that are processed together."""
    warm = [i for i, row in enumerate(rows) if row.temperature > 0]
    size = _CHUNK if device.type == "cpu" else max(len(warm), 1)
    return [warm[i : i + size] for i in range(0, len(warm), size)]


def _warm_probabilities(scores: Tensor, rows: Sequence[SamplingParams]) -> Tensor:
    """Return probabilities (n, V) in float64 for the scores (n, V) of rows with a positive temperature."""
    wide = scores.double()
    temperature = torch.tensor([[row.temperature] for row in rows], dtype=torch.float64, device=wide.device)
    if wide.device.type != "cpu":
        shares = _shares(tempered_weights(wide, temperature))
        return _shares(truncate_batch(shares, rows)) if any(row.truncates for row in rows) else shares
    probabilities = tempered_softmax(wide, temperature)
    for values, row in zip(probabilities.numpy(), rows, strict=True):
        if row.truncates:
            truncate_row(values, row)
            values /= values.sum()
    return probabilities


def _shares(weights: Tensor) -> Tensor:
    """Normalise weights (n, V) in [0, 1] with integer sums, as the module docstring explains.

    This is done twice, because the first sum must not overflow if all V weights are 1. It is therefore taken in coarse
    units (2**-44 for 150,000 tokens) and is exact only to 1e-8.
    """
    coarse = 2.0 ** (62 - weights.shape[-1].bit_length())
    for unit in (coarse, _UNIT / 2):
        total = (weights * unit).long().sum(-1, keepdim=True).double() / unit
        weights = weights / total
    return weights


class SampleStream:
    """The random numbers of one sample: one uniform number for each token, which depends on the seed alone."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.Philox(key=seed))

    def uniform(self) -> float:
        """Return the next number in [0, 1)."""
        return float(self._random.random())


def draw(probabilities: Tensor, uniforms: Sequence[float]) -> Tensor:
    """Draw one token ID for each row (B) by inverting the cumulative distribution.

    probabilities: (B, V) in float64. uniforms: a number in [0, 1) for each row. Sums are taken over integer multiples
    of 2**-62, so they do not depend on their order, and a token of probability 0 is never drawn.
    """
    cumulative = (probabilities * _UNIT).long().cumsum(-1)
    total = cumulative[:, -1:]
    points = torch.tensor(uniforms, dtype=torch.float64, device=probabilities.device)[:, None] * total
    # right=True: the first token whose cumulative mass is above the point; below the total there always is one.
    inside = torch.minimum(points.long(), total - 1)
    return torch.searchsorted(cumulative, inside, right=True).squeeze(-1)


def seen_tokens(rows: Sequence[Sequence[int]], vocabulary: int, device: torch.device | str = "cpu") -> Tensor:
    """Return a mask (B, V) of the tokens that each row contains. IDs outside the vocabulary are ignored."""
    seen = torch.zeros((len(rows), vocabulary), dtype=torch.bool, device=device)
    for row, token_ids in enumerate(rows):
        seen[row, torch.tensor([t for t in token_ids if t < vocabulary], dtype=torch.long, device=device)] = True
    return seen


def adjusted_logits(
    logits: Tensor,
    params: Sequence[SamplingParams],
    seen: Tensor | None,
    drawn: Sequence[int],
    end_ids: Collection[int],
) -> Tensor:
    """Return logits (B, V) in fp32 after each row's bias, then repetition penalty, then exclusion of end tokens.

    If no row needs a change, the same tensor is returned. seen: mask (B, V) of the tokens in each row's prompt and
    completion; required if a row has a repetition penalty. drawn: number of tokens that each row has generated so far.
    end_ids: tokens that are excluded before min_tokens. Raises ParameterError if a biased token is outside the
    vocabulary.
    """
    rows = _each(params, len(logits))
    early = [i for i, row in enumerate(rows) if drawn[i] < row.min_tokens]
    penalised = [i for i, row in enumerate(rows) if row.repetition_penalty != 1.0]
    biased = [(i, token, nats) for i, row in enumerate(rows) for token, nats in row.logit_bias]
    if not (early or penalised or biased):
        return logits
    out = logits.float().clone()
    device, vocabulary = out.device, out.shape[-1]
    if biased:
        unknown = next((token for _, token, _ in biased if token >= vocabulary), None)
        if unknown is not None:
            raise ParameterError(
                "logit_bias", f"logit_bias names token {unknown}: this model's ids are 0..{vocabulary - 1}"
            )
        pairs = torch.tensor([(i, token) for i, token, _ in biased], device=device)
        out[pairs[:, 0], pairs[:, 1]] += torch.tensor([nats for _, _, nats in biased], device=device)
    if penalised:
        if seen is None:
            raise ValueError("a repetition penalty needs the tokens that were seen")
        penalty = torch.tensor([[rows[i].repetition_penalty] for i in penalised], device=device)
        out[penalised] = repetition_penalised(out[penalised], penalty, seen[penalised])
    # A checkpoint may name an end token outside its vocabulary.
    ends = sorted(token for token in end_ids if token < vocabulary)
    if early and ends:
        out[torch.tensor(early, device=device)[:, None], torch.tensor(ends, device=device)] = -torch.inf
    return out


def top_logprobs(logprobs: Tensor, counts: Sequence[int]) -> tuple[tuple[tuple[int, float], ...], ...]:
    """Return the likeliest tokens of each row as (token ID, log-probability), in descending order, ties by ID.

    logprobs: (B, V). counts: number of tokens to return for each row.
    """
    most = min(max(counts, default=0), logprobs.shape[-1])
    if most == 0:
        return tuple(() for _ in counts)
    # One extra value shows whether a tie crosses the end of the list; topk orders ties arbitrarily.
    likeliest = logprobs.topk(min(most + 1, logprobs.shape[-1]), dim=-1)
    out = []
    for row, (count, ids, values) in enumerate(
        zip(counts, likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    ):
        pairs = list(zip(ids, values, strict=True))
        if 0 < count < len(pairs) and values[count - 1] == values[count]:
            last = values[count - 1]
            equal = (logprobs[row] == last).nonzero().squeeze(-1)[:count].tolist()
            pairs = [(i, v) for i, v in pairs if v > last] + [(i, last) for i in equal]
        out.append(tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:count]))
    return tuple(out)


def check_finite(logprobs: Tensor) -> None:
    """Raise ModelOutputError if the model returned NaN or a distribution that cannot be sampled."""
    if bool(torch.isnan(logprobs).any()) or not bool(torch.isfinite(logprobs.amax(-1)).all()):
        raise ModelOutputError(
            "the model returned NaN or infinite probabilities: its weights are damaged or overflow in this precision"
        )
