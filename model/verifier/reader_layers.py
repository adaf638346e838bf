"""A trained reader's layers as the beginning of a verifier: it has learned already what answers what in a passage."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from model.decoder.marks import MARKS
from model.reader.prefix_decoder import CONFIG, load_prefix_decoder
from model.verifier.encoder import SupportEncoder, SupportFeatures, warm_start_support
from model.verifier.files import CONFIG as VERIFIER

_KEPT = ("embedding.", "positions.", "embedding_norm.", "blocks.")
_A_PART = (MARKS - 1) // 3  # marks of each part: absent, present, present beside the same neighbour


def is_reader(folder: Path) -> bool:
    """Whether a folder holds a reader, and no verifier: what holds both is taken for the verifier it was named as."""
    return (folder / CONFIG).is_file() and not (folder / VERIFIER).is_file()


def support_from_reader(folder: Path, seed: int, features: SupportFeatures | None = None) -> SupportEncoder:
    """A support encoder with the embeddings, marks and blocks of the reader in ``folder``, and fresh heads.

    A reader's prompt has a question and evidence, but no claim: the claim's marks begin as the question's, which is
    what the evidence is looked through for. A reader without marks leaves all of them at zero. seed: of the heads.
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
