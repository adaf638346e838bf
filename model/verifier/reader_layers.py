"""Initialise a verifier from the layers of a trained reader, which have learned to find answers in passages."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from model.decoder.marks import MARKS
from model.reader.prefix_decoder import CONFIG, load_prefix_decoder
from model.verifier.encoder import SupportEncoder, SupportFeatures, warm_start_support
from model.verifier.files import CONFIG as VERIFIER

_KEPT = ("embedding.", "positions.", "embedding_norm.", "blocks.")
_MARKS_PER_PART = (MARKS - 1) // 3  # marks per part: absent, present, present with the same adjacent token


def is_reader(folder: Path) -> bool:
    """Return whether a folder holds a reader and no verifier."""
    return (folder / CONFIG).is_file() and not (folder / VERIFIER).is_file()


def support_from_reader(folder: Path, seed: int, features: SupportFeatures | None = None) -> SupportEncoder:
    """Create a support encoder with the embeddings, marks and blocks of the reader in ``folder``, and new heads.

    A reader's prompt has no claim, so the claim's marks are initialised from those of the question, which are also
    matched with the evidence. Without marks in the reader all marks are zero. seed: initialises the heads. Raises
    ModelError as ``load_prefix_decoder`` does.
    """
    reader = load_prefix_decoder(folder)
    state = reader.state_dict()
    layers: dict[str, Tensor] = {name: t.clone() for name, t in state.items() if name.startswith(_KEPT)}
    if "marks.weight" in state:
        marks = state["marks.weight"].clone()
        marks[_MARKS_PER_PART : 2 * _MARKS_PER_PART] = marks[:_MARKS_PER_PART]
        layers["marks.weight"] = marks
    return warm_start_support(seed, features, layers, num_layers=reader.config.num_layers)
