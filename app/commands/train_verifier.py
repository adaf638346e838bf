"""Train the embedded verifier on your own pairs of evidence and claim, and on synthetic claims from your documents.

``plumbline train verifier --data FILE --output FOLDER`` reads JSONL (also .gz, .bz2) of {"evidence", "claim",
"supported", "question", "source", "group"}. It also reads responses with human-marked hallucinated words in RAGTruth's
layout (a folder; its split "train"), sentence by sentence. Groups with other evidence are held out for calibration and
scoring. The same command continues an interrupted run.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands import verifier_training_options
from app.commands.options import device_name
from app.console import Output
from app.errors import EXIT_OK, AppError

if TYPE_CHECKING:
    from app.training.verifier.recipe import VerifierRecipe


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    verifier_training_options.add(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Train the verifier, calibrate and score it, and print the scores. With --rows-to only write the rows."""
    from app.training.progress import TrainingProgress, warn_if_collapsed, warn_of_skipped
    from app.training.verifier.training import train_verifier
    from evaluation.detection.support import SupportProgress
    from model.training.folder_lock import exclusive_run

    recipe = verifier_training_options.verifier_recipe(arguments)
    if arguments.rows_to:
        return _make_rows(recipe, arguments.rows_to, plain=arguments.plain, output=output)
    with output.progress() as bar, exclusive_run(arguments.output):

        def scoring(progress: SupportProgress) -> None:
            bar.update("scoring", progress.statements, progress.total)

        trained = train_verifier(
            recipe,
            arguments.output,
            device=device_name(arguments),
            notify=output.info,
            progress=TrainingProgress(bar, output.info),
            scoring=scoring,
        )
    warn_if_collapsed(trained.training, output.info)
    warn_of_skipped(trained.skipped, output.info)
    if output.as_json:
        output.json(
            {
                "folder": str(trained.folder),
                "rows": trained.rows,
                "skipped": len(trained.skipped),
                "training": asdict(trained.training),
                "calibration": asdict(trained.calibration) if trained.calibration else None,
                "development": asdict(trained.development) if trained.development else None,
                "unseen": asdict(trained.unseen) if trained.unseen else None,
            }
        )
        return EXIT_OK
    if trained.calibration and trained.development:
        output.info(
            "development claims are the ones the curves were fitted on: except for AUROC, their figures are optimistic"
        )
    for name, report in (("development", trained.development), ("unseen", trained.unseen)):
        for row in report.table.sources if report else ():
            scores = row.scores
            output.data(
                f"{name} {row.source}: AUROC {_percent(scores.auroc.estimate)}, balanced accuracy "
                f"{_percent(scores.balanced_accuracy.estimate)}, F1 of hallucinated "
                f"{_percent(scores.f1_hallucinated.estimate)}, calibration error "
                f"{_percent(scores.calibration_error.estimate)}; {scores.n} pairs"
            )
        if report:
            output.data(f"{name}: macro AUROC {_percent(report.table.macro_auroc.estimate)}")
    output.data(f"verifier {trained.folder}")
    return EXIT_OK


def _make_rows(recipe: VerifierRecipe, folder: Path, *, plain: bool, output: Output) -> int:
    from app.training.progress import warn_of_skipped
    from app.training.verifier.row_files import RowsFolder
    from app.training.verifier.rows import make_rows

    with RowsFolder(folder) as written:  # Check the folder before the rows are built, which takes minutes.
        rows = make_rows(recipe, separates_claims=not plain, notify=output.info)
        warn_of_skipped(rows.skipped, output.info)
        if not rows.rows:
            raise AppError("there are no rows to train on, so nothing was written")
        files = written.write(rows)
    if output.as_json:
        output.json(
            {
                "folder": str(folder),
                "rows": len(rows.rows),
                "skipped": len(rows.skipped),
                "files": [file.name for file in files],
                "bytes": sum(file.stat().st_size for file in files),
            }
        )
        return EXIT_OK
    output.data(f"rows {folder}")
    return EXIT_OK


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"
