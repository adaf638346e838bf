"""What a verifier is trained on and how: everything that a run of ``plumbline train verifier`` is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evaluation.training_examples.answer_rows import AnswerMix
from evaluation.training_examples.verifier_rows import WindowMix
from model.checkpoints.minilm import MINILM_LAYERS
from model.training.loop import TrainSettings
from model.verifier.encoder import SupportFeatures
from model.verifier.files import SupportUse

_PATHS = ("pairs", "texts", "reading")
_OF_ROWS = (
    *_PATHS,
    *("made", "replies", "answers", "rows", "source_cap", "balance", "hold_out", "limit", "skip_bad"),
    *("windows", "together", "altered"),
)


@dataclass(frozen=True, slots=True)
class VerifierRecipe:
    """What a verifier is trained on and how.

    pairs: labelled files, as app.training.verifier.pairs reads them. texts: documents that claims are made from by
    rule, ``made`` of them in all (the labelled rows' own evidence lends some too), and ``replies``: turns of a
    conversation made so. reading: questions on passages, and ``answers``: short answers to them at most, right and
    wrong (half to questions made from the texts, where there are any). rows: labelled rows at most, drawn at random.
    source_cap: of one source at most. balance: supported rows of a source at most, for each unsupported one of it (by
    weight in answers that are read together, else by number). hold_out: sources of which nothing, or not all, is
    trained (data.source_splits.split_pairs). together: how the claims of an answer are read together, where a file
    holds answers; None: each claim is a row. altered: share of these answers that are read a second time, against
    evidence altered by rule, where it is sure what becomes of each claim.

    rows_from: folders of rows that were made before (app.training.verifier.row_files), in place of all of the above
    and of the window in ``use``. start: a trained verifier's folder to go on from, or a reader's, whose layers it
    then has. start_share: so much of a verifier's weights in what is written; mix: other verifiers, and how much of
    theirs. teachers: verifiers that have ``teacher_share`` of a say in every claim's target, their mean; the labels
    have the rest, and all of it in the sources ``not_taught``. development: pairs scored at the end, at most, of each
    kind. check: some held-out claims are scored every so many steps; 0: never. num_layers: of MiniLM's, from the
    bottom; a start has its own.
    """

    pairs: tuple[Path, ...] = ()
    texts: tuple[Path, ...] = ()
    made: int = 30_000
    replies: int = 0
    reading: tuple[Path, ...] = ()
    answers: int = 12_000
    rows: int | None = None
    source_cap: int | None = None
    balance: float | None = None
    hold_out: tuple[str, ...] = ()
    rows_from: tuple[Path, ...] = ()
    start: Path | None = None
    start_share: float = 0.0
    mix: tuple[tuple[Path, float], ...] = ()
    teachers: tuple[Path, ...] = ()
    teacher_share: float = 0.5
    not_taught: tuple[str, ...] = ()
    limit: int | None = None
    skip_bad: bool = False
    development: int = 4000
    check: int = 250
    num_layers: int = MINILM_LAYERS
    features: SupportFeatures = field(default_factory=SupportFeatures)
    use: SupportUse = field(default_factory=SupportUse)
    windows: WindowMix = field(default_factory=WindowMix)
    together: AnswerMix | None = field(default_factory=AnswerMix)
    altered: float = 0.0
    settings: TrainSettings = field(default_factory=lambda: TrainSettings(learning_rate=2e-4))

    def of_rows(self) -> dict[str, Any]:
        """How the rows are made, for those who read of it elsewhere: files by name, since paths mean nothing there."""
        known = {name: value for name, value in asdict(self).items() if name in _OF_ROWS}
        names = {name: [path.name for path in getattr(self, name)] for name in _PATHS}
        return {**known, **names, "seed": self.settings.seed, "window_tokens": self.use.window_tokens}

    def facts(self, rows: Mapping[str, object]) -> dict[str, Any]:
        """What verifier.json says of the run. rows: how these came to be, as ``of_rows`` says it."""
        known = {name: value for name, value in asdict(self).items() if name not in (*_OF_ROWS, "rows_from", "mix")}
        return {**known, **rows}
