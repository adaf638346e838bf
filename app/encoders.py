"""Opening the encoder that the settings name, here or in a process of its own."""

from __future__ import annotations

from retrieval.encoder import Encoder
from retrieval.sentence_transformer import Precision, SentenceTransformerEncoder, load_default_encoder


def open_encoder(name: str, device: str, precision: Precision) -> Encoder:
    """The encoder ``name``, a folder or hub id; "" is MiniLM from its package. device: cpu, cuda, cuda:N or auto.

    Raises ModelError for a device that is not there, and RetrievalError for an encoder that cannot be loaded.
    """
    from model.device import pick_device  # loads torch, which the parent of a process of its own does without

    where = str(pick_device(device))
    if not name:
        return load_default_encoder(device=where, precision=precision)
    return SentenceTransformerEncoder(name, device=where, precision=precision)
