"""Initialise a verifier from a trained reader's layers, which have already learned what answers what in a passage."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from model.decoder.marks import MARKS
from model.reader.prefix_decoder import CONFIG, load_prefix_decoder
from model.verifier.encoder import SupportEncoder, SupportFeatures, warm_start_support
from model.verifier.files import CONFIG as VERIFIER

_KEPT = ("embedding.", "positions.", "embedding_norm.", "blocks.")
_A_PART = (MARKS - 1) // 3  # marks of each part: absent, present, present next to the same neighbour


def is_reader(folder: Path) -> bool:
    """Whether a folder holds a reader and no verifier; a folder with both counts as a verifier."""
    return (folder / CONFIG).is_file() and not (folder / VERIFIER).is_file()


def support_from_reader(folder: Path, seed: int, features: SupportFeatures | None = None) -> SupportEncoder:
    """A support encoder with the embeddings, marks and blocks of the reader in ``folder``, and new heads.

    A reader's prompt has a question and evidence, but no claim: the claim's marks are initialised from the question's,
    since both are matched with the evidence. A reader without marks leaves all of them at zero. seed: of the heads.
    Raises ModelError as load_prefix_decoder does.
    """
    reader = load_prefix_decoder(folder)
    state = reader.state_dict()
    layers: dict[str, Tensor] = {name: t.clone() for name, t in state.items() if name.startswith(_KEPT)}
    if "marks.weight" in state:
        marks = state["marks.weight"].clone()
        marks[_A_PART : 2 * _A_PART] = marks[:_A_PART]
        layers["marks.weight"] = marks
    return warm_start_support(seed, features, layers, num_layers=reader.config.num_layers)
