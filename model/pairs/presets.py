"""How well-known families of pair classifiers want to be read: which label supports, in what order, joined how.

A preset is named before a checkpoint (``minicheck:FOLDER``) or told by the checkpoint's own name. Sources: HHEM 1.0's
model card (one logit, premise first); MiniCheck (Tang et al. 2024, inference.py: document and claim joined by the end
token, second label); AlignScore (Zha et al. 2023: three-way head, the first label is "aligned"); NLI models say what
their labels mean in their configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.errors import ModelError

Layout = Literal["pair", "joined"]


@dataclass(frozen=True, slots=True)
class PairPreset:
    """labels: how many the classifier must have, () for any. supported: index of the label that supports, None where
    its name has to say it. layout: "pair" as the tokenizer joins two texts, "joined" as one text with the end token
    between. names: parts of checkpoints' names (lower case) that tell the family.
    """

    name: str
    labels: tuple[int, ...] = ()
    supported: int | None = None
    layout: Layout = "pair"
    names: tuple[str, ...] = ()

    def check(self, count: int, where: str) -> None:
        """Raises ModelError when a checkpoint cannot be of this family."""
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
    """A checkpoint and the preset that was written before its name, None where none was."""

    checkpoint: str
    preset: PairPreset | None


def read_preset(name: str) -> PresetName:
    """``hhem:FOLDER`` and the like taken apart; any other name is left as it is."""
    prefix, separator, rest = name.partition(":")
    if separator and rest and prefix.lower() in PRESETS:
        return PresetName(rest, PRESETS[prefix.lower()])
    return PresetName(name, None)


def preset_from_name(checkpoint: str, count: int) -> PairPreset:
    """The preset that a checkpoint's own name tells, where its labels can be that family's; else "nli"."""
    last = Path(checkpoint).name.lower()
    for preset in PRESETS.values():
        if any(part in last for part in preset.names) and count in preset.labels:
            return preset
    return PRESETS["nli"]
