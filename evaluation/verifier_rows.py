"""Pair examples as the token rows that train the embedded verifier: windows cut as they are when it is used."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.pairs import PairExample
from evaluation.errors import EvaluationError
from evaluation.evidence.as_read import read_evidence
from evaluation.evidence.windows import evidence_windows
from model.support_tokens import MAX_CLAIM_TOKENS, MAX_QUESTION_TOKENS, SupportTokens
from model.tokenizer import Encoding
from model.training.pair_rows import UNKNOWN, PairRow

_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class WindowMix:
    """most: windows of one row at most; of longer evidence those that share most tokens with the claim are kept.

    strangers: how often a row of one window gets a window of another example's evidence beside its own, as retrieval
    brings passages that have nothing to do with the claim.
    """

    most: int = 5
    strangers: float = 0.12

    def __post_init__(self) -> None:
        if self.most < 1 or not 0 <= self.strangers <= 1:
            raise EvaluationError(f"{self}: at least one window, and strangers in [0, 1]")


def verifier_rows(
    examples: Sequence[PairExample], tokens: SupportTokens, *, mix: WindowMix | None = None, seed: int = 0
) -> Iterator[PairRow]:
    """One row per example, in order; a function of (seed, examples) alone. Examples whose claim has no token are left
    out."""
    mix = mix or WindowMix()
    for begin in range(0, len(examples), _AT_ONCE):
        some = examples[begin : begin + _AT_ONCE]
        readings = [read_evidence(example.evidence).text for example in some]
        evidence = tokens.tokenizer.encode_many(readings)
        claims = tokens.tokenizer.encode_many([example.claim for example in some])
        questions = tokens.tokenizer.encode_many([example.question for example in some])
        for index, example in enumerate(some):
            claim, question = claims[index], questions[index]
            if not claim.token_ids:
                continue
            rng = random.Random(f"{seed}:{begin + index}")
            parts = _parts(readings[index], evidence[index], tokens, claim, question, mix.most)
            if len(parts) == 1 and rng.random() < mix.strangers:
                parts = [*parts, evidence[rng.randrange(len(some))].token_ids]
            windows = tuple(tokens.window(question, claim, part) for part in parts)
            yield PairRow(windows, example.supported, _wrong(example, claim, question, windows[0]))


def _parts(
    text: str, whole: Encoding, tokens: SupportTokens, claim: Encoding, question: Encoding, most: int
) -> list[tuple[int, ...]]:
    room = tokens.room(claim, question)
    if len(whole.token_ids) <= room:
        return [whole.token_ids]

    def count(texts: Sequence[str]) -> list[int]:
        return [len(encoding.token_ids) for encoding in tokens.tokenizer.encode_many(texts)]

    cut = evidence_windows(text, room, count)
    parts = [encoding.token_ids for encoding in tokens.tokenizer.encode_many([window.text for window in cut])]
    wanted = set(claim.token_ids)
    best = sorted(range(len(parts)), key=lambda i: (-len(wanted.intersection(parts[i])), i))[:most]
    return [parts[i] for i in sorted(best)]


def _wrong(example: PairExample, claim: Encoding, question: Encoding, window: tuple[int, ...]) -> tuple[int, ...]:
    """Word labels of the first window: all right where the claim is supported, unknown where nobody marked them."""
    if not example.supported and example.wrong is None:
        return ()
    spans = () if example.supported else (example.wrong or ())
    first = 2 + min(len(question.token_ids), MAX_QUESTION_TOKENS)
    labels = [UNKNOWN] * len(window)
    for place, (start, end) in enumerate(claim.offsets[:MAX_CLAIM_TOKENS]):
        labels[first + place] = int(any(start < right and left < end for left, right in spans))
    return tuple(labels)
