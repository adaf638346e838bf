"""Open the encoder named in the settings, in this process or in a subprocess."""

from __future__ import annotations

from pathlib import Path

from app.models.cache import ModelCache, ModelKey, model_key, process_models
from app.models.known_tokenizers import check_tokenizer
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.sentence_transformer import (
    Precision,
    SentenceTransformerEncoder,
    default_encoder_folder,
    load_default_encoder,
)


def open_encoder(
    name: str, device: str, precision: Precision, models: ModelCache | None = None, home: Path | None = None
) -> Encoder:
    """Load an encoder. name: a folder or a hub ID; "" for the packaged MiniLM.

    device: cpu, cuda, cuda:N or auto. models: cache of models, by default that of the process; encoders with a hub ID
    are not cached. home: data directory (home) for app.models.known_tokenizers; None if there is none.

    Raises ModelError for an unavailable device or a tokenizer that exceeds its limits, RetrievalError for an encoder
    that cannot be loaded.
    """
    key = encoder_key(name, device, precision)
    if key is None:
        return _load(name, device, precision, home)
    return (process_models() if models is None else models).get(key, lambda: _load(name, device, precision, home))


def encoder_key(name: str, device: str, precision: Precision) -> ModelKey | None:
    """Return the cache key of an encoder, or None for a hub ID. Loads nothing.

    Raises RetrievalError if the package of MiniLM is not installed.
    """
    if not name:  # a kind of its own, because its weights are compared with the published ones
        return model_key("default encoder", default_encoder_folder(), device, precision)
    folder = Path(name)
    return model_key("encoder", folder, device, precision) if folder.is_dir() else None


def _load(name: str, device: str, precision: Precision, home: Path | None) -> Encoder:
    # This imports torch, which the parent of an encoder subprocess does not need.
    from model.hardware.device import pick_device

    where = str(pick_device(device))
    if not name:
        return load_default_encoder(device=where, precision=precision)
    check_tokenizer(Path(name), home)
    return SentenceTransformerEncoder(name, device=where, precision=precision)
