"""The rows of the experiment: short rows of public data sets and contrast pairs for training, and others for measuring.

``python -m benchmarks.decoder_verifier_rows ROWS.jsonl.bz2 TRAIN.jsonl`` writes the training rows for ``plumbline train
verifier --data``, which trains the small network on the same rows.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contrast_pairs import ContrastPair, contrast_pairs
from data.pairs import PairExample, load_pairs

HELD_OUT_SOURCES = (
    "begin",
    "factcheck_gpt",
    "summedits_ectsum",
    "summedits_qmsumm",
    "summedits_sales_call",
    "summedits_sales_email",
    "summedits_samsum",
    "summedits_scitldr",
    "wice",
)
TRAINED_KINDS = ("passive", "comparative", "values", "negation")
HELD_OUT_KINDS = ("converse", "bounds", "quantifier", "direction")
TRAINED_HALF, HELD_OUT_HALF = 0, 1
_SHARES = {"snli": 0.3, "fever": 0.3, "halueval_qa": 0.04, "ares_nq": 0.015, "ares_wow": 0.015}
"""Share of each source in the training rows. The remaining rows are contrast pairs."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the experiment.

    train: training rows, in random order.
    development: rows with other evidence from the same sources, and a few contrast pairs of each kind with other words.
    They are scored during training.
    sources: rows to measure on, by held-out source.
    kinds: contrast pairs to measure on, by kind; none of them is in development.
    """

    train: tuple[PairExample, ...]
    development: tuple[PairExample, ...]
    sources: dict[str, tuple[PairExample, ...]]
    kinds: dict[str, tuple[ContrastPair, ...]]


def make_rows(
    path: Path,
    *,
    count: int = 8500,
    per_source: int = 50,
    per_kind: int = 40,
    words: int = 100,
    long_words: int = 300,
    seed: int = 0,
) -> Rows:
    """Build the rows from a file of pairs. Raises DataError like load_pairs.

    count: number of training rows.
    per_source, per_kind: numbers of rows per source and of pairs per kind to measure on.
    words, long_words: maximum words of a training row, and of a row to measure on.
    """
    by_source: dict[str, list[PairExample]] = defaultdict(list)
    for example in load_pairs([path]).examples:
        by_source[example.source].append(example)
    chance = random.Random(seed)
    train: list[PairExample] = []
    development: list[PairExample] = []
    for source, share in _SHARES.items():
        short = [e for e in by_source[source] if _words(e) <= words]
        groups = sorted({e.group for e in short})
        development_groups = set(chance.sample(groups, len(groups) // 20))
        rows = _balanced([e for e in short if e.group not in development_groups], chance)
        train += rows[: round(share * count)]
        development += _balanced([e for e in short if e.group in development_groups], chance)[: round(share * 100)]
    left = round((1 - sum(_SHARES.values())) * count / 2 / len(TRAINED_KINDS))
    train += as_examples(list(contrast_pairs(TRAINED_KINDS, left, half=TRAINED_HALF, seed=seed)))
    chance.shuffle(train)
    measured = contrast_pairs(TRAINED_KINDS + HELD_OUT_KINDS, per_kind, half=HELD_OUT_HALF, seed=seed + 1)
    kinds: dict[str, list[ContrastPair]] = defaultdict(list)
    for pair in measured:
        kinds[pair.kind].append(pair)
    few = contrast_pairs(TRAINED_KINDS + HELD_OUT_KINDS, 6, half=HELD_OUT_HALF, seed=seed + 2)
    development += as_examples(list(few))
    sources = {
        source: tuple(_balanced([e for e in by_source[source] if _words(e) <= long_words], chance)[:per_source])
        for source in HELD_OUT_SOURCES
    }
    # Resampling by evidence needs more than one.
    sources = {source: found for source, found in sources.items() if len({e.group for e in found}) > 1}
    return Rows(tuple(train), tuple(development), sources, {kind: tuple(pairs) for kind, pairs in kinds.items()})


def as_examples(pairs: Sequence[ContrastPair]) -> list[PairExample]:
    """Return both claims of each pair."""
    return [
        PairExample(pair.evidence, claim, supported, source=f"contrast:{pair.kind}", group=pair.evidence)
        for pair in pairs
        for claim, supported in ((pair.right, True), (pair.wrong, False))
    ]


def _words(example: PairExample) -> int:
    return len(f"{example.evidence} {example.question} {example.claim}".split())


def _balanced(examples: Sequence[PairExample], chance: random.Random) -> list[PairExample]:
    """Return equal numbers of supported and unsupported examples, alternating, in random order."""
    shuffled = list(examples)
    chance.shuffle(shuffled)
    good, bad = ([e for e in shuffled if e.supported is label] for label in (True, False))
    return [e for pair in zip(good, bad, strict=False) for e in pair]


def main() -> None:
    """Write the training rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    fields = ("evidence", "claim", "question", "supported", "source", "group")
    lines = [json.dumps({name: getattr(e, name) for name in fields}) + "\n" for e in make_rows(arguments.rows).train]
    arguments.output.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
