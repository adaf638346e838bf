"""The rows that a verifier is trained on, made from labelled files, texts and questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.training.verifier.drawing import drawn
from app.training.verifier.pairs import load_training_pairs
from app.training.verifier.recipe import VerifierRecipe
from app.training.verifier.synthetic import claim_sources, claims_by_rule, short_answers
from data.pairs import PairExample
from data.source_splits import split_pairs
from evaluation.synthetic_claims.altered.answers import altered_answers
from evaluation.synthetic_claims.edit_location import by_sentence
from evaluation.training_examples.answer_rows import answer_rows, by_answer, supported_weights
from evaluation.training_examples.verifier_rows import verifier_rows
from model.training.pair_rows import PairRow
from model.verifier.tokens import SupportTokens


@dataclass(frozen=True, slots=True)
class VerifierRows:
    """rows: to train on. development: of other groups of their sources. unseen: of what was held out by name.

    skipped: bad lines left out. window_tokens: of evidence, in a window. answer_tokens: of claims that are read
    together, 0 where none are. made: how the rows came to be, as JSON has it.
    """

    rows: tuple[PairRow, ...]
    development: tuple[PairExample, ...]
    unseen: tuple[PairExample, ...]
    skipped: tuple[str, ...]
    window_tokens: int
    answer_tokens: int
    made: Mapping[str, object]


def make_rows(recipe: VerifierRecipe, *, told_apart: bool, say: Callable[[str], None]) -> VerifierRows:
    """Read the files, make claims, cut windows.

    told_apart: whether the network can tell claims of one window apart; where it cannot, none are read together.
    Raises DataError for files that cannot be read or give nothing.
    """
    loaded = load_training_pairs(recipe.pairs, skip_bad=recipe.skip_bad, limit=recipe.limit)
    split = split_pairs(loaded.examples, recipe.hold_out)
    say(
        f"{len(split.train)} pairs to train on, {len(split.development)} of other evidence and "
        f"{len(split.unseen)} held out by name to score on"
    )
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
    rows = list(verifier_rows(examples, tokens, mix=recipe.windows, seed=seed))
    if recipe.altered:
        more = altered_answers(answers, recipe.altered, seed)
        say(f"{len(more)} of {len(answers)} answers read once more, against altered evidence")
        answers = answers + more
    if answers:
        weights = supported_weights(answers, recipe.balance)
        together = list(answer_rows(answers, tokens, mix=recipe.together, weights=weights, seed=seed))
        say(f"{len(answers)} answers whose claims are read together, as {len(together)} rows")
        rows += together
    say(f"{len(rows)} rows, {token_count(rows) / 1e6:.2f} million tokens")
    return VerifierRows(
        rows=tuple(rows),
        development=split.development,
        unseen=split.unseen,
        skipped=loaded.skipped,
        window_tokens=recipe.use.window_tokens,
        answer_tokens=recipe.together.tokens if answers and recipe.together else 0,
        made=recipe.of_rows(),
    )


def token_count(rows: Sequence[PairRow]) -> int:
    """Tokens of all windows."""
    return sum(len(window) for row in rows for window in row.windows)


def _counts(examples: Sequence[PairExample]) -> str:
    found = Counter(example.source for example in examples)
    return ", ".join(f"{source} {count}" for source, count in found.most_common())
