"""Presets of well-known pair classifiers: the supporting label, the order, and how the texts are joined.

A preset is given as a prefix (``minicheck:FOLDER``) or inferred from the checkpoint's name. Sources: HHEM 1.0's model
card (one logit, premise first); MiniCheck (Tang et al. 2024, inference.py: document and claim joined by the end token,
second label); AlignScore (Zha et al. 2023: three-way head, the first label is "aligned"); NLI models name their labels
in their configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.errors import ModelError

Layout = Literal["pair", "joined"]


@dataclass(frozen=True, slots=True)
class PairPreset:
    """labels: required number of labels, () for any.

    supported: index of the supporting label, None to infer it by name.

    layout: "pair" as the tokenizer joins two texts, "joined" as one text with the end token between. names: parts of
    checkpoint names (lower case) that identify the family.
    """

    name: str
    labels: tuple[int, ...] = ()
    supported: int | None = None
    layout: Layout = "pair"
    names: tuple[str, ...] = ()

    def check(self, count: int, where: str) -> None:
        """Raise ModelError if a checkpoint cannot be of this family."""
        if self.labels and count not in self.labels:
            wanted = " or ".join(str(n) for n in self.labels)
            raise ModelError(
                f"{where} has {count} labels, and a {self.name} model has {wanted}: leave out {self.name}: to read its "
                "labels by name"
            )


PRESETS = {
    p.name: p
    for p in (
        PairPreset("nli"),
        PairPreset("hhem", labels=(1,), supported=0, names=("hhem", "hallucination_evaluation_model")),
        PairPreset("minicheck", labels=(2,), supported=1, layout="joined", names=("minicheck",)),
        PairPreset("alignscore", labels=(3,), supported=0, names=("alignscore",)),
    )
}


@dataclass(frozen=True, slots=True)
class PresetName:
    """A checkpoint and the preset prefix of its name, None if there was none."""

    checkpoint: str
    preset: PairPreset | None


def read_preset(name: str) -> PresetName:
    """Split ``hhem:FOLDER`` and similar names; any other name is unchanged."""
    prefix, separator, rest = name.partition(":")
    if separator and rest and prefix.lower() in PRESETS:
        return PresetName(rest, PRESETS[prefix.lower()])
    return PresetName(name, None)


def preset_from_name(checkpoint: str, count: int) -> PairPreset:
    """Infer the preset from the checkpoint's name, if its labels match that family; else "nli"."""
    last = Path(checkpoint).name.lower()
    for preset in PRESETS.values():
        if any(part in last for part in preset.names) and count in preset.labels:
            return preset
    return PRESETS["nli"]
