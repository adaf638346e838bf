"""Training the embedded verifier, wired: files to pairs, made claims, rows, weights, calibration, figures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from app.verifier_calibration import calibrated
from app.verifier_check import HeldOutCheck
from app.verifier_drawing import drawn, fair_sample
from app.verifier_made import claim_sources, claims_by_rule, short_answers
from app.verifier_pairs import load_training_pairs
from app.verifier_teaching import Teachers
from data.pairs import PairExample
from data.source_splits import PairSplit, split_pairs
from evaluation.answer_rows import AnswerMix, answer_rows, by_answer, supported_weights
from evaluation.detection.calibration import Calibration
from evaluation.detection.support import SupportProgress
from evaluation.detection.verifier_scores import VerifierReport, score_pairs
from evaluation.making.altered.answers import altered_answers
from evaluation.making.differing import by_sentence
from evaluation.verifier_rows import WindowMix, verifier_rows
from model.errors import ModelError
from model.prefix_decoder import prefix_decoder_fingerprint
from model.reader_layers import is_reader, support_from_reader
from model.support_encoder import SupportEncoder, SupportFeatures, warm_start_support
from model.support_files import SupportUse, change_use, load_support, save_support
from model.support_scorer import SupportScorer
from model.support_tokens import SupportTokens
from model.training.averaging import average_with, weights_of
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.pair_rows import PairRow
from model.training.pair_trainer import train_pairs

_CHECKED, _CHECKED_ANSWERS = 300, 80  # held-out claims and answers scored while it trains: some ten seconds


@dataclass(frozen=True, slots=True)
class VerifierRecipe:
    """What a verifier is trained on and how.

    pairs: labelled files, as app.verifier_pairs reads them. texts: documents that claims are made from by rule,
    ``made`` of them in all (the labelled rows' own evidence lends some too), and ``replies``: turns of a conversation
    made so. reading: questions on passages, and ``answers``: short answers to them at most, right and wrong (half to
    questions made from the texts, where there are any). rows: labelled rows at most, drawn at random. source_cap: of
    one source at most. balance: supported rows of a
    source at most, for each unsupported one of it (by weight in answers that are read together, else by number).
    together: how the claims of an answer are read together, where a file holds answers; None: each claim is a row.
    altered: share of these answers that are read a second time, against evidence altered by rule, where it is sure what
    becomes of each claim.
    hold_out: sources of which nothing, or not all, is trained (data.source_splits.split_pairs). start: a trained
    verifier's folder to go on from, or a reader's, whose layers it then has. start_share: so much of a verifier's
    weights in what is written. teachers: verifiers that have ``teacher_share`` of a say in every claim's target, their
    mean; the labels have the rest. development: pairs scored at the end, at most, of each kind. check: some held-out
    claims are scored every so many steps; 0: never.
    """

    pairs: tuple[Path, ...]
    texts: tuple[Path, ...] = ()
    made: int = 30_000
    replies: int = 0
    reading: tuple[Path, ...] = ()
    answers: int = 12_000
    rows: int | None = None
    source_cap: int | None = None
    balance: float | None = None
    hold_out: tuple[str, ...] = ()
    start: Path | None = None
    start_share: float = 0.0
    teachers: tuple[Path, ...] = ()
    teacher_share: float = 0.5
    limit: int | None = None
    skip_bad: bool = False
    development: int = 4000
    check: int = 250
    features: SupportFeatures = field(default_factory=SupportFeatures)
    use: SupportUse = field(default_factory=SupportUse)
    windows: WindowMix = field(default_factory=WindowMix)
    together: AnswerMix | None = field(default_factory=AnswerMix)
    altered: float = 0.0
    settings: TrainSettings = field(default_factory=lambda: TrainSettings(learning_rate=2e-4))


@dataclass(frozen=True, slots=True)
class TrainedVerifier:
    """The outcome. skipped: bad lines left out. calibration: None where none could be found (``say`` was told why).

    development: other groups of the sources trained on. unseen: what was held out. None where there are none.
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
    say: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None = None,
    scoring: Callable[[SupportProgress], None] | None = None,
) -> TrainedVerifier:
    """Build the rows, train (resuming from folder/checkpoints), write the verifier, calibrate it, score it.

    Raises DataError for unreadable files, ModelError as model.training.loop.run_steps does.
    """
    # What a wrong folder or share is refused for is said at once, before minutes of reading.
    model, start_name = _starting(recipe, device)
    teachers = Teachers(recipe.teachers, recipe.teacher_share, device=device)
    begun = weights_of(model)  # by the end of the run another model may lie in that folder
    loaded = load_training_pairs(recipe.pairs, skip_bad=recipe.skip_bad, limit=recipe.limit)
    split = split_pairs(loaded.examples, recipe.hold_out)
    say(
        f"{len(split.train)} pairs to train on, {len(split.development)} of other evidence and "
        f"{len(split.unseen)} held out by name to score on"
    )
    told_apart = model.features.worst_word  # else all claims of a window would get one logit
    alone, answers = by_answer(split.train) if recipe.together and told_apart else (split.train, [])
    sentences = by_sentence(alone)
    marked = sum(bool(example.wrong) for example in sentences)
    say(f"{len(sentences)} of them by the sentence, {marked} with the wrong words known")
    seed = recipe.settings.seed
    examples = drawn(sentences, seed, balance=recipe.balance, source_cap=recipe.source_cap, most=recipe.rows)
    sources = claim_sources(split, recipe.texts) if recipe.made or recipe.replies else []
    if recipe.made:
        made = claims_by_rule(sources, recipe.made, seed, say)
        say(f"{len(made)} claims made by rule: {_counts(made)}")
        examples += made
    if recipe.replies:
        replies = claims_by_rule(sources, recipe.replies, seed, say, replies=True)
        say(
            f"{len(replies)} turns of conversations made by rule, {sum(e.supported for e in replies)} of them supported"
        )
        examples += replies
    if recipe.answers and (recipe.reading or recipe.texts):
        short = short_answers(
            split, recipe.reading, recipe.texts, recipe.answers, seed, limit=recipe.limit, skip_bad=recipe.skip_bad
        )
        say(f"{len(short)} short answers, {sum(e.supported for e in short)} of them right")
        examples += short
    tokens = SupportTokens(recipe.use.window_tokens)
    rows = list(verifier_rows(examples, tokens, mix=recipe.windows, seed=recipe.settings.seed))
    if recipe.altered:
        more = altered_answers(answers, recipe.altered, recipe.settings.seed)
        say(f"{len(more)} of {len(answers)} answers read once more, against altered evidence")
        answers = answers + more
    if answers:
        weights = supported_weights(answers, recipe.balance)
        together = list(answer_rows(answers, tokens, mix=recipe.together, weights=weights, seed=recipe.settings.seed))
        say(f"{len(answers)} answers whose claims are read together, as {len(together)} rows")
        rows += together
    say(f"{len(rows)} rows, {_tokens(rows) / 1e6:.2f} million tokens")
    if answers and recipe.together:
        recipe = replace(recipe, use=replace(recipe.use, answer_tokens=recipe.together.tokens))
    rows = teachers.taught(rows, folder, say)
    check = _check(recipe, model, split, say, progress)
    check.begin()
    result = train_pairs(model, rows, recipe.settings, folder / "checkpoints", progress=check)
    average_with(model, begun, recipe.start_share)
    named = {"start": start_name, "teachers": teachers.fingerprints}
    return _finish(recipe, folder, model, named, len(rows), loaded.skipped, result, split, device, say, scoring)


def _starting(recipe: VerifierRecipe, device: str) -> tuple[SupportEncoder, str]:
    """The network that is trained on, its word embeddings frozen, and the fingerprint of what it was."""
    if recipe.start is None:
        return warm_start_support(recipe.settings.seed, recipe.features).to(device), "MiniLM"
    if is_reader(recipe.start):
        if recipe.start_share:
            raise ModelError(f"{recipe.start} is a reader: no share of it can be in a verifier, whose heads it lacks")
        made = support_from_reader(recipe.start, recipe.settings.seed, recipe.features)
        return made.to(device), f"reader {prefix_decoder_fingerprint(recipe.start)}"
    loaded = load_support(recipe.start, device=device)
    model = loaded.model.requires_grad_(True)
    model.embedding.weight.requires_grad_(False)
    return model, loaded.fingerprint


def _check(
    recipe: VerifierRecipe,
    model: SupportEncoder,
    split: PairSplit,
    say: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None,
) -> HeldOutCheck:
    alone, answers = by_answer(split.development) if recipe.use.answer_tokens else (list(split.development), [])
    random.Random(recipe.settings.seed).shuffle(answers)
    answers = answers[: min(recipe.development, _CHECKED_ANSWERS)]
    some = fair_sample(alone, min(recipe.development, _CHECKED), recipe.settings.seed)
    return HeldOutCheck(model, recipe.use, some, answers, recipe.check, say, progress)


def _finish(
    recipe: VerifierRecipe,
    folder: Path,
    model: SupportEncoder,
    named: Mapping[str, object],
    rows: int,
    skipped: tuple[str, ...],
    result: TrainResult,
    split: PairSplit,
    device: str,
    say: Callable[[str], None],
    scoring: Callable[[SupportProgress], None] | None,
) -> TrainedVerifier:
    facts: dict[str, object] = {
        "recipe": {
            **asdict(recipe),
            "pairs": [path.name for path in recipe.pairs],
            "reading": [path.name for path in recipe.reading],
            "texts": [path.name for path in recipe.texts],
            **named,  # by their fingerprints: paths mean nothing elsewhere
        },
        "rows": rows,
        "steps": result.steps,
        "schedules": result.schedules,
        "loss": result.loss,
        "seconds": round(result.seconds),
    }
    save_support(model, folder, SupportUse(recipe.use.window_tokens), facts)
    development = fair_sample(split.development, recipe.development, recipe.settings.seed)
    use, calibration = calibrated(folder, recipe.use, development, split.development, device=device, say=say)
    change_use(folder, use, {"calibrated_on": len(development)} if calibration else {})
    scorer = SupportScorer(load_support(folder, device=device))
    reports = [
        score_pairs(scorer, some, progress=scoring) if some else None
        for some in (development, fair_sample(split.unseen, recipe.development, recipe.settings.seed))
    ]
    return TrainedVerifier(folder, rows, skipped, result, calibration, reports[0], reports[1])


def _counts(examples: Sequence[PairExample]) -> str:
    found = Counter(example.source for example in examples)
    return ", ".join(f"{source} {count}" for source, count in found.most_common())


def _tokens(rows: Sequence[PairRow]) -> int:
    return sum(len(window) for row in rows for window in row.windows)
