"""The decoder: embeddings, blocks and a head, configured by DecoderConfig."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.decoder.attention import step_mask
from model.decoder.attention_state import AttentionState
from model.decoder.blocks import Block
from model.decoder.cache import KVCache
from model.decoder.config import DecoderConfig
from model.decoder.heads import HeadMemory, LinearHead, NextToken, PointerHead
from model.decoder.marks import MARKS, PLAIN_MARK, exact_marks, prompt_parts
from model.decoder.norms import make_norm
from model.decoder.rotary import RotaryTable, rotary_table
from model.errors import ModelError
from model.row_steps import RowSteps


class Decoder(nn.Module):
    """A decoder-only language model, with or without a cache.

    ``forward`` maps token ids to final hidden states; ``next_token`` and ``target_logprobs`` map those to
    log-probabilities. With a prefix config the entire first call on an empty cache is the prompt, with bidirectional
    attention.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions: nn.Embedding | None = None
        self.rotary: RotaryTable | None = None
        if config.positions == "learned":
            self.positions = nn.Embedding(config.max_positions, config.hidden_size)
        else:
            self.rotary = rotary_table(config)
        self.marks: nn.Embedding | None = None
        if config.mark_separator is not None:
            self.marks = nn.Embedding(MARKS, config.hidden_size)
            nn.init.zeros_(self.marks.weight)
        self.embedding_norm = make_norm(config) if config.embedding_norm else None
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.num_layers))
        self.final_norm = make_norm(config) if config.norm_position == "pre" else None
        self.row_steps: RowSteps | None = None
        self.head: LinearHead | PointerHead = PointerHead(config) if config.head == "pointer" else LinearHead(config)

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of the weights."""
        return self.embedding.weight.dtype

    def new_cache(self, batch: int, capacity: int) -> KVCache:
        """Create an empty cache for ``batch`` sequences of up to ``capacity`` positions, on this model's device and
        dtype.
        """
        return KVCache(self.config, batch, capacity, dtype=self.dtype, device=self.device)

    def forward(
        self,
        token_ids: Tensor,
        cache: AttentionState | None = None,
        mask: Tensor | None = None,
        prompt_lengths: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """token_ids (B, T) -> final hidden states (B, T, E).

        With a cache (any AttentionState), the new positions follow the stored ones and are added to it. mask: boolean
        (B, 1, T, S), True where reading is allowed, S = past + T positions; by default causal, or bidirectional for the
        prompt of a prefix decoder. prompt_lengths (B): for a prefix decoder's sequences that continue after the prompt.
        positions (B, T): position of each token, if not directly after the last one (left-padded batches). Raises
        ModelError past the last position.
        """
        steps = token_ids.shape[1]
        if steps < 1:
            raise ModelError("the decoder was given no token: a prompt has at least one")
        if positions is None:
            positions = self._first_positions(token_ids) if cache is None else cache.positions(steps)
        if cache is None and mask is None and not self.config.prefix:
            mask = step_mask(0, steps, token_ids.device)
        x = self.embedding(token_ids)  # (B, T, E)
        if self.positions is not None:
            x = x + self.positions(positions)
        if self.marks is not None and self.config.mark_separator is not None:
            x = x + self.marks(self._mark_codes(token_ids, positions, prompt_lengths, self.config.mark_separator))
        if self.embedding_norm is not None:
            x = self.embedding_norm(x)
        rotation = None if self.rotary is None else self.rotary(positions)
        for block in self.blocks:
            x = block(x, mask, rotation, cache)
        if cache is not None:
            cache.advance(steps)
        out: Tensor = x if self.final_norm is None else self.final_norm(x)
        return out

    def _first_positions(self, token_ids: Tensor) -> Tensor:
        steps, limit = token_ids.shape[1], self.config.max_positions
        if steps > limit:
            raise ModelError(f"{steps} tokens do not fit the context of {limit} positions")
        return torch.arange(steps, device=token_ids.device)[None]

    def _mark_codes(
        self, token_ids: Tensor, positions: Tensor, prompt_lengths: Tensor | None, separator: int
    ) -> Tensor:
        """(B, T) -> (B, T): only a prompt has marks, so that results with and without a cache are equal."""
        begins = positions[:, :1] == 0  # (B or 1, 1): a prompt is read in full, from its first token on
        if token_ids.shape[1] == 1:  # a single token has nothing to match; a decoding step should not pay for it
            return torch.where(begins & (token_ids >= self.config.first_ordinary_id), 0, PLAIN_MARK)
        if prompt_lengths is None:
            prompt_lengths = torch.full(token_ids.shape[:1], token_ids.shape[1], device=token_ids.device)
        parts = prompt_parts(token_ids, prompt_lengths, separator, self.config.first_ordinary_id)
        return torch.where(begins, exact_marks(token_ids, parts), PLAIN_MARK)

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., E) -> (..., V), for a linear head only: the pointer head's mixture has no logits."""
        if not isinstance(self.head, LinearHead):
            raise ModelError("the pointer head returns log-probabilities, not logits: call next_token")
        return self.head.logits(hidden, self.embedding.weight)

    def next_token(self, hidden: Tensor, memory: HeadMemory | None = None) -> NextToken:
        """hidden (B, E) of the last position -> log-probabilities (B, V) of the next token."""
        return self.head.next_token(hidden, self.embedding.weight, memory)

    def target_logprobs(self, hidden: Tensor, targets: Tensor, memory: HeadMemory | None = None) -> Tensor:
        """hidden (B, A, E), targets (B, A) -> log-probabilities (B, A)."""
        return self.head.target_logprobs(hidden, targets, self.embedding.weight, memory)
