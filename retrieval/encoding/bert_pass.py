"""Encode texts with a BERT model on a CPU, faster than the library sentence-transformers.

Weights are stored in the CPU's fastest layout. Queries, keys and values are computed by one product, and gelu is fused
into its product. Texts are sorted by tokens instead of characters, and batches are limited by tokens, not by texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from model.checkpoints.tokenizer import panics_as_errors
from retrieval.encoding.bert import Bert, bert_config
from retrieval.encoding.text_kinds import Kind

_TOKENS_PER_BATCH = 2048
_TEXTS_PER_SORT = 4096
"""Number of texts that are tokenized and sorted by length together, which limits the memory for tokens."""
_PLAIN_MODULES = ("Pooling", "Normalize", "Dense", "LayerNorm", "Dropout")
_PROBES = ("  Ünïcode, CAPITALS and 1,000.50\n\tblanks ", "one word after another " * 400)
_TOLERANCE = 1e-4

Pool = Callable[[Tensor, Tensor], Tensor]


class BertPass:
    """A function that computes the library's sentence vectors. They are normalised only if the library's model does.

    Thread-safe: forward passes run one at a time, because each uses all cores.
    """

    def __init__(
        self,
        bert: Bert,
        coarse: Bert | None,
        tokenizer: Tokenizer,
        pool: Pool,
        *,
        dimension: int,
        pad: int = 0,
        prompts: Mapping[Kind, str] | None = None,
    ) -> None:
        """bert: the transformer in fp32. coarse: the same in bf16, None if bf16 is never requested.

        tokenizer: a tokenizer that truncates and does not pad. pool: maps (B, T, E) token vectors and (B, T) attention
        to (B, dimension). pad: token ID of the padding. prompts: prefixes of queries and passages.
        """
        self._bert = bert
        self._coarse = coarse
        self._prompts = prompts or {}
        self._pool = pool
        self._tokenizer = tokenizer
        self._pad = pad
        self._dimension = dimension
        self._lock = Lock()

    def __call__(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        """Return the (N, E) vectors of N texts. bf16: whether to use bf16 products."""
        bert = self._coarse if bf16 and self._coarse is not None else self._bert
        found = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_PER_SORT):
            prompted = [self._prompts.get(kind, "") + text for text in texts[start : start + _TEXTS_PER_SORT]]
            with panics_as_errors():
                rows = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(prompted)]
            for indices in batches([len(row) for row in rows], _TOKENS_PER_BATCH):
                vectors = self._embed_batch([rows[index] for index in indices], bert)
                found[[start + index for index in indices]] = vectors
        return found

    @torch.inference_mode()
    def _embed_batch(self, rows: Sequence[Sequence[int]], bert: Bert) -> NDArray[np.float32]:
        lengths = np.asarray([len(row) for row in rows])
        attention = torch.from_numpy((np.arange(lengths.max()) < lengths[:, None]).astype(np.int64))  # (B, T)
        ids = torch.full(attention.shape, self._pad, dtype=torch.int64)
        ids[attention.bool()] = torch.from_numpy(np.concatenate([np.asarray(row, dtype=np.int64) for row in rows]))
        with self._lock:
            vectors: NDArray[np.float32] = self._pool(bert(ids, attention), attention).float().numpy()
        return vectors


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield batches of text positions, each with at most ``tokens`` tokens including padding, or with a single text.

    The longest texts come first, so that a lack of memory shows early.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def bert_pass(model: Any, bf16: bool) -> BertPass | None:
    """Return a BertPass for a library model on the CPU, or None if it must be run by the library.

    None is returned if the model is not a plain BERT, gives non-finite values, or gives other vectors than the BertPass
    for two unusual texts. bf16: whether bf16 products will be requested.
    """
    config = bert_config(model[0].auto_model.config) if hasattr(model[0], "auto_model") else None
    modules = tuple(model)[1:]
    if config is None or any(type(module).__name__ not in _PLAIN_MODULES for module in modules):
        return None
    if model.truncate_dim is not None or not modules:
        return None
    if not all(getattr(module, "include_prompt", True) for module in modules):
        return None
    theirs = model[0].auto_model.state_dict()
    if any(tensor.dtype != torch.float32 for tensor in theirs.values() if tensor.is_floating_point()):
        return None
    try:
        bert = Bert(config, theirs, torch.float32)
    except (KeyError, RuntimeError):  # tensors with names or shapes that BERT does not have
        return None
    prompts: dict[Kind, str] = {
        "query": _prompt(model, ("query",)),
        "passage": _prompt(model, ("document", "passage", "corpus")),
    }
    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(int(model.max_seq_length), direction=model.tokenizer.truncation_side)

    def pool(vectors: Tensor, attention: Tensor) -> Tensor:
        features: dict[str, Any] = {"token_embeddings": vectors, "attention_mask": attention}
        for module in modules:
            features = module(features)
        pooled: Tensor = features["sentence_embedding"]
        return pooled

    def build(coarse: Bert | None) -> BertPass:
        dimension, pad = int(model.get_embedding_dimension()), int(model.tokenizer.pad_token_id or 0)
        return BertPass(bert, coarse, tokenizer, pool, dimension=dimension, pad=pad, prompts=prompts)

    candidate = build(None)
    kinds: tuple[Kind, ...] = ("passage",) if prompts["query"] == prompts["passage"] else ("passage", "query")
    if not all(_reproduces(model, candidate, kind) for kind in kinds):
        return None
    return build(Bert(config, theirs, torch.bfloat16)) if bf16 else candidate


def _reproduces(model: Any, bert: BertPass, kind: Kind) -> bool:
    """Return whether the probe texts get the library's vectors, which tests truncation, lower-casing and prompts."""
    encode = model.encode_query if kind == "query" else model.encode_document
    expected = encode(list(_PROBES), show_progress_bar=False, convert_to_numpy=True)
    if not np.isfinite(expected).all():
        return False
    found = bert(_PROBES, kind)
    distance = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    return bool(distance <= _TOLERANCE * np.abs(expected).max())


def _prompt(model: Any, names: Sequence[str]) -> str:
    """Return the prefix that the library adds to a text: the first of ``names`` that exists, else the default."""
    for name in names:
        if name in model.prompts:
            return str(model.prompts[name] or "")
    return str(model.prompts.get(model.default_prompt_name) or "") if model.default_prompt_name else ""
