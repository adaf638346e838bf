"""Token rows that train the embedded verifier, from pair examples. Windows are cut as they are in use."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from data.pairs import PairExample
from evaluation.errors import EvaluationError
from evaluation.evidence.rendering import read_evidence
from evaluation.evidence.windows import evidence_windows
from model.checkpoints.tokenizer import Encoding
from model.training.pair_rows import PairRow, RowClaim
from model.verifier.tokens import MAX_CLAIM_TOKENS, SupportTokens

_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class WindowMix:
    """Settings of the windows of a row.

    most: maximum number of windows; of longer evidence, those that share most tokens with the claim are kept.
    strangers: share of rows with one window that also get a window of another example's evidence, because retrieval
    also returns passages that are unrelated to the claim.
    """

    most: int = 5
    strangers: float = 0.12

    def __post_init__(self) -> None:
        if self.most < 1 or not 0 <= self.strangers <= 1:
            raise EvaluationError(f"{self}: at least one window, and strangers in [0, 1]")


def verifier_rows(
    examples: Sequence[PairExample], tokens: SupportTokens, *, mix: WindowMix | None = None, seed: int = 0
) -> Iterator[PairRow]:
    """Yield one row per example, in order. The rows depend only on the seed and the examples.

    Examples whose claim has no token are left out.
    """
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
            windows = [tokens.answer_window(question, [claim], part) for part in parts]
            ((start, end),) = windows[0].spans
            labels = wrong_words(example, claim)
            labelled = RowClaim(start, end, example.supported, labels)
            yield PairRow(tuple(w.token_ids for w in windows), (labelled,), example.source)


def cut_evidence(text: str, room: int, tokens: SupportTokens) -> list[tuple[int, ...]]:
    """Return the token IDs of each window of at most ``room`` tokens; one empty window for an empty text."""

    def count(texts: Sequence[str]) -> list[int]:
        return [len(encoding.token_ids) for encoding in tokens.tokenizer.encode_many(texts)]

    cut = evidence_windows(text, room, count)
    return [encoding.token_ids for encoding in tokens.tokenizer.encode_many([window.text for window in cut])] or [()]


def closest(parts: Sequence[tuple[int, ...]], wanted: AbstractSet[int], most: int) -> list[tuple[int, ...]]:
    """Return the windows that hold most of the wanted tokens, at most ``most``, in the order of the text."""
    best = sorted(range(len(parts)), key=lambda i: (-len(wanted & set(parts[i])), i))[:most]
    return [parts[i] for i in sorted(best)]


def wrong_words(example: PairExample, claim: Encoding) -> tuple[int, ...]:
    """Return the labels of the claim's tokens, 1 for wrong.

    All are 0 if the claim is supported. Empty if the claim is not supported and its wrong words are not marked.
    """
    if not example.supported and example.wrong is None:
        return ()
    spans = () if example.supported else (example.wrong or ())
    return tuple(
        int(any(start < right and left < end for left, right in spans))
        for start, end in claim.offsets[:MAX_CLAIM_TOKENS]
    )


def _parts(
    text: str, encoded: Encoding, tokens: SupportTokens, claim: Encoding, question: Encoding, most: int
) -> list[tuple[int, ...]]:
    room = tokens.room(claim, question)
    if len(encoded.token_ids) <= room:
        return [encoded.token_ids]
    return closest(cut_evidence(text, room, tokens), set(claim.token_ids), most)
