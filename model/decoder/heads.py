"""Output heads: a linear head, and a pointer head that can also copy from the prompt.

Both return the log-probabilities of all tokens, or of given targets only (cheaper in training), so that sampling and
training do not depend on the head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.decoder.config import DecoderConfig
from model.decoder.decline_head import Decline
from model.decoder.marks import follow_lengths


class Product(Protocol):
    """The product with a matrix in a custom layout, as in a packed head (model/decoder/packing.py)."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product (..., V) of x (..., E)."""
        ...


@dataclass(frozen=True, slots=True)
class HeadMemory:
    """The prompt that a head may copy from. With B = 1 it serves any number of samples of that prompt.

    states: (B, P, E), final states. token_ids: (B, P). copyable: (B, P), True for tokens that may be copied. answer:
    (B, A), tokens of the answer up to the one being predicted, with a placeholder for it; needed by a head that follows
    copied spans. keys: (B, P, E), ``PointerHead.keys`` of the states, computed once for all tokens; None computes them.
    """

    states: Tensor
    token_ids: Tensor
    copyable: Tensor
    answer: Tensor | None = None
    keys: Tensor | None = None


def copyable_tokens(token_ids: Tensor, first_id: int, null_id: int | None) -> Tensor:
    """Return which prompt tokens may be copied (same shape, bool): ids from ``first_id`` on, and ``null_id``.

    null_id: marker at the start of the prompt; a reader declines by pointing at it, because the vocabulary softmax
    cannot distinguish a frozen, untrained embedding from similar ones. None for no marker.
    """
    ordinary = token_ids >= first_id
    return ordinary if null_id is None else ordinary | (token_ids == null_id)


@dataclass(frozen=True, slots=True)
class NextToken:
    """Distribution of the next token.

    logprobs: (B, V). copy: (B, P), probability copied from each prompt token; None for a head that does not copy.
    uncalibrated: the model's own log-probabilities if ``logprobs`` are calibrated, else None; ``copy`` refers to these.
    logits: (B, V) in fp32, with ``logprobs`` as their log-softmax; None if the head or a calibration has none.
    """

    logprobs: Tensor
    copy: Tensor | None
    uncalibrated: Tensor | None = None
    logits: Tensor | None = None


class LinearHead(nn.Module):
    """The head log softmax(W h), with W tied to the embedding or separate."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.packed: Product | None = None
        self.weight = None if config.tied_head else nn.Parameter(torch.empty(config.vocab_size, config.hidden_size))
        if self.weight is not None:  # small, so that an untrained model is near the uniform distribution
            nn.init.normal_(self.weight, std=0.02)

    def logits(self, hidden: Tensor, embedding: Tensor) -> Tensor:
        """Return the logits (..., V) of hidden states (..., E)."""
        if self.packed is not None:
            return self.packed(hidden)
        return F.linear(hidden, embedding if self.weight is None else self.weight)

    def next_token(self, hidden: Tensor, embedding: Tensor, memory: HeadMemory | None) -> NextToken:
        """Return the distribution of the next token after hidden (B, E). The softmax is computed in fp32."""
        logits = self.logits(hidden, embedding).float()
        return NextToken(torch.log_softmax(logits, dim=-1), None, logits=logits)

    def target_logprobs(self, hidden: Tensor, targets: Tensor, embedding: Tensor, memory: HeadMemory | None) -> Tensor:
        """Return the log-probabilities (B, A) of targets (B, A), given hidden states (B, A, E)."""
        logits = self.logits(hidden, embedding).float()
        return torch.log_softmax(logits, dim=-1).gather(-1, targets[..., None]).squeeze(-1)


class PointerHead(nn.Module):
    """The head p(w) = g p_vocab(w) + (1 - g) sum_j a_j over prompt positions j that hold w (See et al. 2017, eq. 9).

    a = softmax(q k^T / sqrt(E)) over copyable prompt tokens. g = sigmoid of a linear map of the state and the attention
    context (their eq. 8). A residual dense-GELU-LayerNorm, initialised as the identity, precedes the tied embedding.

    config.follow: if the answer so far ends with a span of the prompt, the position after that span gets a learned bias
    that depends on the span's length. config.decline: the probability that an answer starts with the prompt's first
    token, the no-answer marker, is corrected (model/decoder/decline_head.py) if the marker may be copied. The other
    probabilities keep their proportions.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.packed: Product | None = None  # the embedding, for the softmax over the vocabulary
        self.dense = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=config.norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size, bias=False)
        self.gate = nn.Linear(2 * size, 1)
        self.scale = size**-0.5
        self.follow: nn.Parameter | None = None
        if config.follow:  # the initial bias favours continuing a copied span
            self.follow = nn.Parameter(torch.cat((torch.zeros(1), torch.linspace(2.0, 4.0, config.follow))))
        self.decline = Decline(size, config.decline) if config.decline else None
        with torch.no_grad():  # the residual branch is zero at initialisation
            self.norm.weight.zero_()
            self.norm.bias.zero_()

    def keys(self, states: Tensor) -> Tensor:
        """Return the attention keys (B, P, E) of the prompt's states (B, P, E)."""
        out: Tensor = self.key(states)
        return out

    def _mixture(self, hidden: Tensor, memory: HeadMemory) -> tuple[Tensor, Tensor, Tensor]:
        """Return log copy weights (B, A, P), log gate (B, A) and log (1 - gate) (B, A) of hidden (B, A, E), in fp32."""
        keys = self.keys(memory.states) if memory.keys is None else memory.keys  # (B or 1, P, E)
        scores = (self.query(hidden) @ keys.transpose(1, 2)).float() * self.scale  # (B, A, P)
        if self.follow is not None and memory.answer is not None:
            lengths = follow_lengths(memory.token_ids, memory.answer, len(self.follow) - 1)
            scores = scores + self.follow.float()[lengths[:, -hidden.shape[1] :]]
        scores = scores.masked_fill(~memory.copyable[:, None, :], torch.finfo(torch.float32).min)
        weights = torch.log_softmax(scores, dim=-1)
        context = weights.exp().to(memory.states.dtype) @ memory.states  # (B, A, E)
        gate = self.gate(torch.cat((hidden, context), dim=-1)).squeeze(-1).float()  # (B, A)
        # Without copyable tokens the vocabulary gets all probability.
        some = memory.copyable.any(dim=-1, keepdim=True)  # (B or 1, 1)
        log_gate = torch.where(some, F.logsigmoid(gate), 0.0)
        return weights, log_gate, torch.where(some, F.logsigmoid(-gate), -1e4)

    def _vocabulary(self, hidden: Tensor, embedding: Tensor) -> Tensor:
        state = hidden + self.norm(F.gelu(self.dense(hidden)))
        scores = F.linear(state, embedding) if self.packed is None else self.packed(state)
        return torch.log_softmax(scores.float() + self.bias.float(), dim=-1)

    def next_token(self, hidden: Tensor, embedding: Tensor, memory: HeadMemory | None) -> NextToken:
        """Return the distribution of the next token after hidden (B, E). Its ``copy`` is (1 - g) a."""
        if memory is None:
            raise ValueError("the pointer head needs the prompt's states to copy from")
        weights, log_gate, log_copy = self._mixture(hidden[:, None], memory)
        copy = (weights[:, 0] + log_copy).exp()  # (B, P)
        vocabulary = (self._vocabulary(hidden, embedding) + log_gate).exp()  # (B, V)
        ids = memory.token_ids.expand(hidden.shape[0], -1)
        mixture = vocabulary.scatter_add(1, ids, copy)
        # Underflow must not give -inf, because every token that the model can emit has a finite log-probability.
        logprobs = mixture.clamp_min(torch.finfo(torch.float32).tiny).log()
        if self.decline is None or (memory.answer is not None and memory.answer.shape[1] > 1):
            return NextToken(logprobs, copy)
        marker = ids[:, :1]  # (B, 1)
        pointed = logprobs.gather(1, marker)
        declines, others = self._correct_declining(hidden[:, None], pointed, memory)  # (B, 1) each
        corrected = (logprobs + others).scatter(1, marker, declines)
        # The copied share of each token's probability is unchanged.
        parts = torch.where(ids == marker, declines - pointed, others).exp()
        return NextToken(corrected, copy * parts)

    def target_logprobs(self, hidden: Tensor, targets: Tensor, embedding: Tensor, memory: HeadMemory | None) -> Tensor:
        """Return the log-probabilities (B, A) of targets (B, A), given hidden states (B, A, E)."""
        if memory is None:
            raise ValueError("the pointer head needs the prompt's states to copy from")
        weights, log_gate, log_copy = self._mixture(hidden, memory)
        same = memory.token_ids[:, None, :] == targets[..., None]  # (B, A, P)
        # A finite floor keeps the gradient defined if the target does not occur in the prompt.
        copied = torch.logsumexp(weights.masked_fill(~same, -1e4), dim=-1)
        words = self._vocabulary(hidden, embedding)
        vocabulary = words.gather(-1, targets[..., None]).squeeze(-1)
        out = torch.logaddexp(vocabulary + log_gate, copied + log_copy)
        if self.decline is None:
            return out
        marker = memory.token_ids[:, :1].expand(targets.shape)  # (B, A)
        word = words.gather(-1, marker[..., None]).squeeze(-1)
        is_marker = (memory.token_ids[:, None, :] == marker[..., None]) & memory.copyable[:, None, :]
        copied_marker = torch.logsumexp(weights.masked_fill(~is_marker, -1e4), dim=-1)
        pointed = torch.logaddexp(word + log_gate, copied_marker + log_copy)
        declines, others = self._correct_declining(hidden, pointed, memory)
        corrected = torch.where(targets == marker, declines, out + others)
        if memory.answer is None:
            return corrected
        begins = torch.arange(targets.shape[1], device=targets.device) == targets.shape[1] - memory.answer.shape[1]
        return torch.where(begins, corrected, out)

    def _correct_declining(self, hidden: Tensor, pointed: Tensor, memory: HeadMemory) -> tuple[Tensor, Tensor]:
        """Return what ``Decline.forward`` does, or no correction if the marker may not be copied.

        hidden: (B, A, E). pointed: (B, A), the pointer's log-probability of the marker.
        """
        if self.decline is None:
            return pointed, torch.zeros_like(pointed)
        marker = memory.states[:, :1].expand(hidden.shape)
        declines, others = self.decline(torch.cat((hidden, marker), dim=-1), pointed)
        copyable = memory.copyable[:, :1]
        return torch.where(copyable, declines, pointed), torch.where(copyable, others, 0.0)
