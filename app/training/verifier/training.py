"""Train an embedded verifier, calibrate it and score it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import AppError
from app.training.verifier.calibration import calibrated
from app.training.verifier.check import ValidationCallback
from app.training.verifier.distillation import Teachers
from app.training.verifier.drawing import fair_sample
from app.training.verifier.mixing import WeightMixture
from app.training.verifier.recipe import VerifierRecipe
from app.training.verifier.row_reading import read_rows
from app.training.verifier.rows import VerifierRows, make_rows
from data.pairs import PairExample
from evaluation.detection.calibration import Calibration
from evaluation.detection.support import SupportProgress
from evaluation.detection.verifier_scores import VerifierReport, score_pairs
from evaluation.training_examples.answer_rows import by_answer
from model.errors import ModelError
from model.reader.prefix_decoder import prefix_decoder_fingerprint
from model.training.loop import TrainProgress, TrainResult
from model.training.pair_trainer import train_pairs
from model.verifier.encoder import SupportEncoder, warm_start_support
from model.verifier.files import LoadedSupport, load_support, rounded_as_saved, save_support
from model.verifier.reader_layers import is_reader, support_from_reader
from model.verifier.scorer import SupportScorer

_CHECKED, _CHECKED_ANSWERS = 300, 80  # number of claims and answers scored during training, in about ten seconds


@dataclass(frozen=True, slots=True)
class TrainedVerifier:
    """The result of a training run.

    folder: folder of the verifier. rows: number of training rows. skipped: invalid lines. calibration: curve of claims
    that are judged separately; None if it could not be fitted. development: scores on other groups of the training
    sources, unseen: scores on held-out sources; None without such claims.
    """

    folder: Path
    rows: int
    skipped: tuple[str, ...]
    training: TrainResult
    calibration: Calibration | None
    development: VerifierReport | None
    unseen: VerifierReport | None


def train_verifier(
    recipe: VerifierRecipe,
    folder: Path,
    *,
    device: str = "cpu",
    notify: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None = None,
    scoring: Callable[[SupportProgress], None] | None = None,
) -> TrainedVerifier:
    """Build the rows, train, calibrate, write the verifier to ``folder``, and score it.

    Resumes from folder/checkpoints if there is a checkpoint. say: called with messages. progress: called after each
    step. scoring: called with the progress of scoring. Raises DataError for unreadable files and for a source of
    ``not_taught`` without rows. Also raises the AppError of app.training.verifier.row_reading.read_rows and the
    ModelError of model.training.loop.run_steps.
    """
    # Invalid folders and shares are detected before the files are read, which takes minutes.
    model, start_name = _starting(recipe, device)
    teachers = Teachers(recipe.teachers, recipe.teacher_share, device=device)
    # The initial network determines features and layers.
    recipe = replace(recipe, features=model.features, num_layers=model.config.num_layers)
    others = WeightMixture(recipe, model)  # now, because folders may contain other models by the end of the run
    separates_claims = model.features.worst_word  # otherwise all claims of a window would get one logit
    if recipe.rows_from:
        prepared = read_rows(recipe.rows_from, notify)
        if prepared.answer_tokens and not separates_claims:
            raise AppError(
                "these rows have claims that are read together, which a plain cross-encoder cannot distinguish"
            )
    else:
        prepared = make_rows(recipe, separates_claims=separates_claims, notify=notify)
    use = replace(recipe.use, window_tokens=prepared.window_tokens, answer_tokens=prepared.answer_tokens)
    recipe = replace(recipe, use=use)
    rows = teachers.with_soft_targets(prepared.rows, folder, notify, except_sources=recipe.not_taught)
    check = _check(recipe, model, prepared.development, notify, progress)
    check.begin()
    result = train_pairs(model, rows, recipe.settings, folder / "checkpoints", progress=check)
    others.average_into(model)
    named = {"start": start_name, "mix": others.named, "teachers": teachers.fingerprints}
    return _finish(recipe, folder, model, named, prepared, result, device, notify, scoring)


def _starting(recipe: VerifierRecipe, device: str) -> tuple[SupportEncoder, str]:
    """Return the initial network, with frozen word embeddings, and the fingerprint of its source."""
    if recipe.start is None:
        model = warm_start_support(recipe.settings.seed, recipe.features, num_layers=recipe.num_layers)
        return model.to(device), "MiniLM"
    if is_reader(recipe.start):
        if recipe.start_share:
            raise ModelError(
                f"{recipe.start} is a reader: it has no verifier heads, so no share of it can be averaged in"
            )
        network = support_from_reader(recipe.start, recipe.settings.seed, recipe.features)
        return network.to(device), f"reader {prefix_decoder_fingerprint(recipe.start)}"
    loaded = load_support(recipe.start, device=device)
    if loaded.model.features.worst_word and not recipe.features.worst_word:
        raise ModelError(f"{recipe.start} is not a plain cross-encoder: leave --plain out, or start from another one")
    model = loaded.model.requires_grad_(True)
    model.embedding.weight.requires_grad_(False)
    return model, loaded.fingerprint


def _check(
    recipe: VerifierRecipe,
    model: SupportEncoder,
    development: Sequence[PairExample],
    notify: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None,
) -> ValidationCallback:
    alone, answers = by_answer(development) if recipe.use.answer_tokens else (list(development), [])
    random.Random(recipe.settings.seed).shuffle(answers)
    answers = answers[: min(recipe.development, _CHECKED_ANSWERS)]
    some = fair_sample(alone, min(recipe.development, _CHECKED), recipe.settings.seed)
    return ValidationCallback(model, recipe.use, some, answers, recipe.check, notify, progress)


def _finish(
    recipe: VerifierRecipe,
    folder: Path,
    model: SupportEncoder,
    named: Mapping[str, object],
    rows: VerifierRows,
    result: TrainResult,
    device: str,
    notify: Callable[[str], None],
    scoring: Callable[[SupportProgress], None] | None,
) -> TrainedVerifier:
    facts: dict[str, object] = {
        "recipe": {**recipe.facts(rows.made), **named},  # models are named by fingerprint, because paths are local
        "rows": len(rows.rows),
        "steps": result.steps,
        "schedules": result.schedules,
        "loss": result.loss,
        "seconds": round(result.seconds),
    }
    development = fair_sample(rows.development, recipe.development, recipe.settings.seed)
    # Calibrate before writing the weights, because weights without calibration would look like a complete verifier.
    loaded = LoadedSupport(rounded_as_saved(model), recipe.use, "")
    found = calibrated(loaded, recipe.use, development, rows.development, notify=notify)
    fitted = {"calibrated_on": found.claims, "calibrated_on_answers": found.answers} if found.alone else {}
    save_support(model, folder, found.use, facts | fitted)
    scorer = SupportScorer(load_support(folder, device=device))
    reports = [
        score_pairs(scorer, some, progress=scoring) if some else None
        for some in (development, fair_sample(rows.unseen, recipe.development, recipe.settings.seed))
    ]
    return TrainedVerifier(folder, len(rows.rows), rows.skipped, result, found.alone, reports[0], reports[1])
