"""The decoder: embeddings, blocks and a head, as configured by DecoderConfig."""

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
    """A decoder-only language model.

    ``forward`` maps token ids to final hidden states. ``next_token`` and ``target_logprobs`` map these to
    log-probabilities. In a prefix decoder, the tokens of the first call on an empty cache are the prompt, with
    bidirectional attention.
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
        """Create an empty cache for ``batch`` sequences of up to ``capacity`` positions, with this device and dtype."""
        return KVCache(self.config, batch, capacity, dtype=self.dtype, device=self.device)

    def forward(
        self,
        token_ids: Tensor,
        cache: AttentionState | None = None,
        mask: Tensor | None = None,
        prompt_lengths: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Return the final hidden states (B, T, E) of token_ids (B, T).

        cache: state of earlier positions; the new positions follow them and are added. None without a cache. mask:
        boolean (B, 1, T, S) with S = past + T positions, True where reading is allowed; None is causal, or
        bidirectional for the prompt of a prefix decoder. prompt_lengths: (B), for sequences of a prefix decoder that
        continue after the prompt; None if all tokens are the prompt. positions: (B, T), position of each token, needed
        for left-padded batches; None continues after the last position. Raises ModelError past the last position.
        """
        steps = token_ids.shape[1]
        if steps < 1:
            raise ModelError("the decoder needs at least one token")
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
        """Return the mark of each token, (B, T). Only prompts have marks, so that a cache does not change results."""
        begins = positions[:, :1] == 0  # (B or 1, 1): a prompt is passed in one call, from its first token
        if token_ids.shape[1] == 1:  # a single token cannot match another one, and decoding steps must be fast
            return torch.where(begins & (token_ids >= self.config.first_ordinary_id), 0, PLAIN_MARK)
        if prompt_lengths is None:
            prompt_lengths = torch.full(token_ids.shape[:1], token_ids.shape[1], device=token_ids.device)
        parts = prompt_parts(token_ids, prompt_lengths, separator, self.config.first_ordinary_id)
        return torch.where(begins, exact_marks(token_ids, parts), PLAIN_MARK)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the logits (..., V) of hidden states (..., E). Raises ModelError for a pointer head."""
        if not isinstance(self.head, LinearHead):
            raise ModelError("the pointer head returns log-probabilities, not logits: call next_token")
        return self.head.logits(hidden, self.embedding.weight)

    def next_token(self, hidden: Tensor, memory: HeadMemory | None = None) -> NextToken:
        """Return the distribution of the next token after hidden (B, E). memory: required by a pointer head."""
        return self.head.next_token(hidden, self.embedding.weight, memory)

    def target_logprobs(self, hidden: Tensor, targets: Tensor, memory: HeadMemory | None = None) -> Tensor:
        """Return the log-probabilities (B, A) of targets (B, A), given hidden states (B, A, E)."""
        return self.head.target_logprobs(hidden, targets, self.embedding.weight, memory)
