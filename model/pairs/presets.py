"""Presets for well-known pair classifiers: the supporting label, and how the two texts are joined.

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
    """Settings of a family of pair classifiers.

    labels: allowed numbers of labels; () allows any. supported: index of the supporting label; None infers it by name.
    layout: "pair" joins two texts as the tokenizer does, "joined" makes them one text with the end token between.
    names: parts of checkpoint names, in lower case, that identify the family.
    """

    name: str
    labels: tuple[int, ...] = ()
    supported: int | None = None
    layout: Layout = "pair"
    names: tuple[str, ...] = ()

    def check(self, count: int, where: str) -> None:
        """Raise ModelError if a checkpoint cannot be of this family."""
        if self.labels and count not in self.labels:
            expected = " or ".join(str(n) for n in self.labels)
            raise ModelError(
                f"{where} has {count} labels, and a {self.name} model has {expected}: omit the prefix {self.name}: to "
                "read its labels by name"
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
    """A checkpoint's name without prefix, and the preset that the prefix names; None without a prefix."""

    checkpoint: str
    preset: PairPreset | None


def read_preset(name: str) -> PresetName:
    """Split a name like ``hhem:FOLDER`` into the checkpoint and its preset. Other names have no preset."""
    prefix, separator, rest = name.partition(":")
    if separator and rest and prefix.lower() in PRESETS:
        return PresetName(rest, PRESETS[prefix.lower()])
    return PresetName(name, None)


def preset_from_name(checkpoint: str, count: int) -> PairPreset:
    """Return the preset that fits the checkpoint's name and number of labels; "nli" if none does."""
    last = Path(checkpoint).name.lower()
    for preset in PRESETS.values():
        if any(part in last for part in preset.names) and count in preset.labels:
            return preset
    return PRESETS["nli"]
