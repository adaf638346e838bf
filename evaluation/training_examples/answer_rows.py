"""Training rows in which the embedded verifier reads the claims of one answer together, as it does in use."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from data.pairs import PairExample
from evaluation.claims.answer_parts import ROOM_STEP, answer_parts
from evaluation.errors import EvaluationError
from evaluation.evidence.rendering import read_evidence
from evaluation.training_examples.verifier_rows import closest, cut_evidence, wrong_words
from model.checkpoints.tokenizer import Encoding
from model.training.pair_rows import PairRow, RowClaim
from model.verifier.tokens import MAX_CLAIM_TOKENS, SupportTokens

_SMALLER = (1, 40, 80)
_ALONE_EACH = 2


@dataclass(frozen=True, slots=True)
class AnswerMix:
    """Settings of the rows of answers.

    tokens: maximum number of tokens of claims read together. windows: maximum number of windows of a row; those that
    share most tokens with its claims are kept. smaller: share of answers that are cut into smaller parts (of 40 or 80
    tokens, or two separate claims), so that the verifier learns to read any number of claims.
    """

    tokens: int = MAX_CLAIM_TOKENS
    windows: int = 3
    smaller: float = 0.4

    def __post_init__(self) -> None:
        if not (1 <= self.tokens <= MAX_CLAIM_TOKENS and self.windows >= 1 and 0 <= self.smaller <= 1):
            raise EvaluationError(
                f"{self}: 1 to {MAX_CLAIM_TOKENS} tokens, at least one window, and a share of smaller ones in [0, 1]"
            )


def by_answer(examples: Sequence[PairExample]) -> tuple[list[PairExample], list[list[PairExample]]]:
    """Return (separate claims, claims of each answer), both in order."""
    alone: list[PairExample] = []
    answers: dict[tuple[str, ...], list[PairExample]] = defaultdict(list)
    for example in examples:
        if example.answer:
            # Evidence and question are part of the key, because files of one name may number their answers alike.
            e = example
            answers[e.source, e.group, e.answer, e.evidence, e.question].append(e)
        else:
            alone.append(example)
    return alone, list(answers.values())


def supported_weights(answers: Sequence[Sequence[PairExample]], balance: float | None) -> dict[str, float]:
    """Return the weight of a supported claim by source.

    The weights limit the supported claims to at most ``balance`` times the unsupported ones. They are 1 without a
    balance, and for a source without unsupported claims, which cannot be balanced.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for answer in answers:
        for example in answer:
            counts[example.source][example.supported] += 1
    return {
        source: 1.0 if balance is None or not wrong else min(1.0, balance * wrong / max(1, right))
        for source, (wrong, right) in counts.items()
    }


def answer_rows(
    answers: Sequence[Sequence[PairExample]],
    tokens: SupportTokens,
    *,
    mix: AnswerMix | None = None,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Iterator[PairRow]:
    """Yield the rows of each answer, in order. They depend only on the seed and the answers.

    answers: claims of each answer, which share evidence and question. weights: weight of a supported claim, by source;
    1 for other sources. Claims without a token are left out.
    """
    mix = mix or AnswerMix()
    weights = weights or {}
    kept: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    for index, answer in enumerate(answers):
        rng = random.Random(f"{seed}:answer:{index}")
        claims = list(zip(answer, tokens.tokenizer.encode_many([e.claim for e in answer]), strict=True))
        claims = [(example, encoding) for example, encoding in claims if encoding.token_ids]
        if not claims:
            continue
        limit = min(rng.choice(_SMALLER) if rng.random() < mix.smaller else mix.tokens, mix.tokens)
        sizes = [min(len(encoding.token_ids), MAX_CLAIM_TOKENS) for _, encoding in claims]
        parts = answer_parts(sizes, limit)
        if limit == 1 < mix.tokens:
            parts = [parts[i] for i in sorted(rng.sample(range(len(parts)), min(_ALONE_EACH, len(parts))))]
        question = tokens.tokenizer.encode(answer[0].question)
        text = read_evidence(answer[0].evidence).text
        for part in parts:
            yield _row([claims[i] for i in part], question, text, tokens, mix.windows, weights, kept)
        if len(kept) > 64:  # answers with the same evidence are adjacent
            kept.clear()


def _row(
    claims: Sequence[tuple[PairExample, Encoding]],
    question: Encoding,
    text: str,
    tokens: SupportTokens,
    most: int,
    weights: Mapping[str, float],
    kept: dict[tuple[str, int], list[tuple[int, ...]]],
) -> PairRow:
    encoded = [encoding for _, encoding in claims]
    first = tokens.answer_window(question, encoded, ())
    room = tokens.evidence_budget(sum(end - start for start, end in first.spans), question)
    room -= room % ROOM_STEP if room > 2 * ROOM_STEP else 0
    if (text, room) not in kept:
        kept[text, room] = cut_evidence(text, room, tokens)
    token_ids = {token for encoding in encoded for token in encoding.token_ids}
    windows = [
        tokens.answer_window(question, encoded, part).token_ids for part in closest(kept[text, room], token_ids, most)
    ]
    labelled = [
        RowClaim(
            start,
            end,
            example.supported,
            wrong_words(example, encoding)[: end - start],
            weights.get(example.source, 1.0) if example.supported else 1.0,
        )
        for (example, encoding), (start, end) in zip(claims, first.spans, strict=True)
    ]
    return PairRow(tuple(windows), tuple(labelled), claims[0][0].source)
