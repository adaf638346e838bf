"""The reference decoding loop: one prefill for all samples of a prompt, then one token at a time.

The engine (generation/engine) does the same for many prompts at once and is tested against this loop. This module also
contains the types that both return, and the steps that do not depend on batching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from generation.completion import FinishReason
from generation.decoding.params import SamplingParams
from generation.decoding.sampling import (
    SampleStream,
    adjusted_logits,
    check_finite,
    draw_tokens,
    seen_tokens,
    top_logprobs,
)
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, NextToken, copyable_tokens

_SOURCES_KEPT = 8


@dataclass(frozen=True, slots=True)
class CopySource:
    """A prompt position from which the sampled token may have been copied.

    share: share of the token's probability that was copied from this position.
    """

    position: int
    share: float


@dataclass(frozen=True, slots=True)
class DecodedTokens:
    """The generated tokens of one sample.

    token_logprobs: natural log of each token's probability at temperature 1, before bias, penalty and truncation.
    sources: for each token, the prompt positions it may have been copied from, largest share first; empty for a head
    that does not copy. finish_reason: reason why the sample ended; "length" if it is not finished. top_logprobs: for
    each token, the requested number of likeliest alternatives as (token ID, log-probability).
    """

    token_ids: tuple[int, ...]
    token_logprobs: tuple[float, ...]
    sources: tuple[tuple[CopySource, ...], ...]
    finish_reason: FinishReason
    top_logprobs: tuple[tuple[tuple[int, float], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of a model's distributions, applied before sampling and before log-probabilities are returned.

    temperature: each distribution p becomes p ** (1 / temperature), renormalised. first_bias: (token ID, nats) added to
    that token's log-probability at the first step; None for no bias.
    """

    temperature: float = 1.0
    first_bias: tuple[int, float] | None = None

    @property
    def is_identity(self) -> bool:
        """Whether the calibration changes nothing."""
        return self.temperature == 1.0 and (self.first_bias is None or self.first_bias[1] == 0.0)

    def first(self, step: NextToken) -> NextToken:
        """Return the calibrated distribution of the first step."""
        if self.first_bias is None or self.first_bias[1] == 0.0:
            return self.later(step)
        token, nats = self.first_bias
        bias = torch.zeros_like(step.logprobs)
        bias[:, token] = nats
        return _reweighted(step, step.logprobs / self.temperature + bias)

    def later(self, step: NextToken) -> NextToken:
        """Return the calibrated distribution of a later step."""
        return step if self.temperature == 1.0 else _reweighted(step, step.logprobs / self.temperature)


def _reweighted(step: NextToken, scores: Tensor) -> NextToken:
    """Return the log-softmax of the scores. Each token keeps its sources and the copied share of its probability."""
    logprobs = torch.log_softmax(scores, dim=-1)
    return NextToken(logprobs, step.copy, step.logprobs)


@dataclass(slots=True)
class _Sample:
    stream: SampleStream
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    sources: list[tuple[CopySource, ...]] = field(default_factory=list)
    top: list[tuple[tuple[int, float], ...]] = field(default_factory=list)
    finish: FinishReason | None = None

    def decoded(self) -> DecodedTokens:
        """Return the tokens generated so far."""
        parts = tuple(self.token_ids), tuple(self.logprobs), tuple(self.sources)
        return DecodedTokens(*parts, self.finish or "length", tuple(self.top))


def decode(
    model: Decoder,
    prompt: Sequence[int],
    params: SamplingParams,
    seeds: Sequence[int],
    end_ids: frozenset[int],
    *,
    first_copyable_id: int = 0,
    null_id: int | None = None,
    calibration: Calibration | None = None,
    stopped: Callable[[DecodedTokens], bool] | None = None,
) -> tuple[DecodedTokens, ...]:
    """Generate one completion of ``prompt`` per seed, of at most params.max_tokens tokens and within the context.

    The prompt is read once. Each later step costs O(position).

    end_ids: tokens that finish a sample and are not part of it. first_copyable_id, null_id: a copying head may copy
    tokens with IDs from first_copyable_id on, and null_id, which stands for no answer. calibration: None to use the
    model's distributions. stopped: called after each token with the tokens so far; the sample ends if it returns True.
    """
    with torch.inference_mode():
        device = model.device
        ids = torch.tensor([prompt], device=device)
        max_new = min(params.max_tokens, model.config.max_positions - len(prompt) + 1)
        # The last token is never read, so the cache needs one position less.
        cache = model.new_cache(1, min(len(prompt) + max_new - 1, model.config.max_positions))
        hidden = model(ids, cache)  # (1, P, E)
        memory = (
            HeadMemory(hidden, ids, copyable_tokens(ids, first_copyable_id, null_id))
            if model.config.head == "pointer"
            else None
        )
        samples = [_Sample(SampleStream(seed)) for seed in seeds]
        calibration = calibration or Calibration()
        step = _repeat(calibration.first(model.next_token(hidden[:, -1], memory)), len(seeds))
        if len(seeds) > 1 and max_new > 1:
            cache = cache.expand(len(seeds))
        drawn = ids.new_empty((len(seeds), 0))
        for index in range(max_new):
            tokens = _draw_step(step, ids[0], params, samples, end_ids, index)
            for sample in samples:
                if sample.finish is None and stopped is not None and stopped(sample.decoded()):
                    sample.finish = "stop"
            if index + 1 == max_new or all(sample.finish for sample in samples):
                break
            if memory is not None:
                # The continuation of a copied span depends on the answer so far. The last column is a placeholder for
                # the token to be predicted.
                drawn = torch.cat((drawn, tokens[:, None]), dim=1)
                memory = replace(memory, answer=torch.cat((drawn, torch.zeros_like(drawn[:, :1])), dim=1))
            step = calibration.later(model.next_token(model(tokens[:, None], cache)[:, -1], memory))
    return tuple(sample.decoded() for sample in samples)


def _repeat(step: NextToken, samples: int) -> NextToken:
    copy = None if step.copy is None else step.copy.expand(samples, -1)
    own = None if step.uncalibrated is None else step.uncalibrated.expand(samples, -1)
    logits = None if step.logits is None else step.logits.expand(samples, -1)
    return NextToken(step.logprobs.expand(samples, -1), copy, own, logits)


def _draw_step(
    step: NextToken, prompt: Tensor, params: SamplingParams, samples: list[_Sample], end_ids: frozenset[int], drawn: int
) -> Tensor:
    """Sample a token for every sample, record it for the unfinished ones, and return all of them (B)."""
    check_finite(step.logprobs)
    rows = [params] * len(samples)
    # A penalty divides its input, so it gets the logits if available, not logits minus their log-sum-exp.
    scores = step.logits if step.logits is not None else step.logprobs
    if params.adjusts_logits:
        sequences = [[*prompt.tolist(), *sample.token_ids] for sample in samples]
        seen = seen_tokens(sequences, scores.shape[-1], scores.device) if params.repetition_penalty != 1.0 else None
        scores = adjusted_logits(scores, rows, seen, [drawn] * len(samples), end_ids)
    # A finished sample keeps drawing from its own stream, so that the others' numbers do not depend on it.
    tokens = draw_tokens(scores, rows, [sample.stream.uniform() for sample in samples])
    best = top_logprobs(step.logprobs, [params.top_logprobs] * len(samples)) if params.top_logprobs else ()
    logprobs = step.logprobs.gather(-1, tokens[:, None]).squeeze(-1)
    sources = copy_sources(step, prompt, tokens, logprobs)
    for row, sample in enumerate(samples):
        if sample.finish is not None:
            continue
        token = int(tokens[row])
        if token in end_ids:
            sample.finish = "stop"
            continue
        sample.token_ids.append(token)
        sample.logprobs.append(float(logprobs[row]))
        sample.sources.append(sources[row] if sources else ())
        if best:
            sample.top.append(best[row])
    return tokens


def copy_sources(
    step: NextToken, prompt: Tensor, tokens: Tensor, logprobs: Tensor
) -> list[tuple[CopySource, ...]] | None:
    """Return the positions from which each sampled token may have been copied; None for a head that does not copy.

    prompt: token IDs (P). tokens: sampled tokens (B). logprobs: log-probabilities (B) of the sampled tokens.
    """
    if step.copy is None:
        return None
    # Shares of the model's own probability of the token, before calibration.
    own = logprobs if step.uncalibrated is None else step.uncalibrated.gather(-1, tokens[:, None]).squeeze(-1)
    shares = step.copy * (prompt[None] == tokens[:, None]) / own.exp()[:, None]  # (B, P)
    best = shares.topk(min(_SOURCES_KEPT, shares.shape[-1]), dim=-1)
    return [
        tuple(CopySource(int(p), float(s)) for p, s in zip(positions, values, strict=True) if s > 0)
        for positions, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
