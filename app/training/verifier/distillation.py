"""Knowledge distillation (Hinton et al. 2015): soft targets from the labels and the scores of other verifiers.

Labels are binary, while teachers give a degree. A mean of independently trained teachers has smaller errors than each
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from app.training.verifier.calibration import row_logits
from data.source_splits import sources_named
from model.checkpoints.files import write_tensors
from model.errors import ModelError
from model.training.pair_rows import PairRow, pair_rows_sha256
from model.verifier.files import LoadedSupport, load_support
from model.verifier.scorer import SupportScorer

_AT_ONCE = 500  # rows scored in one call; progress is reported after every fourth call
KEPT = "teachers.safetensors"


class Teachers:
    """Trained verifiers that score claims for distillation. Their score is the mean of their calibrated logits.

    Their rule-based penalties are not applied, because the trained verifier applies its own.
    """

    def __init__(self, folders: Sequence[Path], share: float, *, device: str = "cpu") -> None:
        """Load the teachers. share: weight of the teachers in a target, in [0, 1]; the label has the rest.

        Raises ModelError for another share, for a verifier that does not judge claims separately, and the errors of
        load_support.
        """
        if not 0 <= share <= 1:  # rejects NaN too
            raise ModelError(f"the teachers' share is {share}: it must be in [0, 1]")
        self._loaded = [load_support(folder, device=device) for folder in folders]
        for folder, teacher in zip(folders, self._loaded, strict=True):
            if not teacher.model.features.worst_word:
                raise ModelError(
                    f"{folder} does not judge claims separately, so it cannot be a teacher: name another verifier"
                )
        self._share = share

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """SHA-256 (hex) of each teacher, in order."""
        return tuple(teacher.fingerprint for teacher in self._loaded)

    def with_soft_targets(
        self,
        rows: Sequence[PairRow],
        folder: Path,
        notify: Callable[[str], None],
        *,
        except_sources: Collection[str] = (),
    ) -> list[PairRow]:
        """Return the rows with soft targets. A resumed run reads the teachers' scores from a cache in ``folder``.

        except_sources: sources (NAME* for a prefix) whose rows keep their labels, for example if teachers fail on them.
        Raises ModelError if the cache cannot be written, DataError for a source without rows.
        """
        sources = {row.source for row in rows}
        left = {source for name in except_sources for source in sources_named(name, sources)}
        distilled = [row for row in rows if row.source not in left]
        if self._loaded and left:
            notify(f"no distillation for {len(rows) - len(distilled)} rows of {', '.join(sorted(left))}")
        if not self._loaded or not distilled:
            return list(rows)
        labelled = iter(self._with_targets(distilled, folder, notify))
        return [row if row.source in left else next(labelled) for row in rows]

    def _with_targets(self, rows: Sequence[PairRow], folder: Path, notify: Callable[[str], None]) -> list[PairRow]:
        logits = self._teacher_logits(rows, folder, notify)
        own = torch.tensor([float(claim.supported) for row in rows for claim in row.claims], dtype=torch.float64)
        support = torch.sigmoid(logits)
        agreement = ((support >= 0.5) == (own >= 0.5)).double().mean().item()
        notify(f"the teachers agree with {agreement:.1%} of the labels; their weight in each target is {self._share:g}")
        targets = iter((self._share * support + (1 - self._share) * own).clamp(0, 1).tolist())
        return [replace(row, claims=tuple(replace(c, target=next(targets)) for c in row.claims)) for row in rows]

    def _teacher_logits(self, rows: Sequence[PairRow], folder: Path, notify: Callable[[str], None]) -> Tensor:
        """Return the mean calibrated logit of each claim: (C,), float64."""
        identity = {"rows": pair_rows_sha256(rows), "teachers": " ".join(self.fingerprints)}
        if (kept := _cached_scores(folder / KEPT, identity)) is not None:
            return kept
        found = torch.zeros(sum(len(row.claims) for row in rows), dtype=torch.float64)
        for number, teacher in enumerate(self._loaded, 1):
            found += self._of(teacher, rows, f"teacher {number} of {len(self._loaded)}", notify)
        found /= len(self._loaded)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_tensors(folder / KEPT, {"logits": found}, identity)
        except OSError as error:
            raise ModelError(f"{folder / KEPT} cannot be written: {error.strerror}") from error
        return found

    def _of(self, teacher: LoadedSupport, rows: Sequence[PairRow], name: str, notify: Callable[[str], None]) -> Tensor:
        scorer, use = SupportScorer(teacher), teacher.use
        together = use.answer_tokens > 0
        logits: list[float] = []
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            several = [together and len(row.claims) > 1 for row in some for _ in row.claims]
            for logit, is_several in zip(row_logits(scorer, some), several, strict=True):
                # Rows contain tokens only, which do not show whether a claim is a short answer.
                slope, intercept = use.curve(together=is_several, short=False)
                logits.append(slope * logit + intercept)
            if begin // _AT_ONCE % 4 == 3:
                notify(f"{name} has read {begin + len(some):,} of {len(rows):,} rows")
        return torch.tensor(logits, dtype=torch.float64)


def _cached_scores(path: Path, identity: dict[str, str]) -> Tensor | None:
    """Return the cached scores of the same teachers on the same rows; None if there are none or they are damaged."""
    try:
        with safe_open(path, "pt") as file:
            if file.metadata() != identity:
                return None
            found: Tensor = file.get_tensor("logits")
            return found
    except (OSError, SafetensorError):
        return None
