"""Compare verifiers on data that training did not use: sources, kinds of contrast pairs, judging cases.

``python -m benchmarks.decoder_verifier_report ROWS.jsonl.bz2 MODEL.gguf --output FOLDER`` measures the adapter in
FOLDER, the shipped network, and the networks of ``--network NAME=FOLDER``, each with and without the rules of
evaluation.contrast. ``--judging FILE`` adds cases of {contexts, answer, question, expected}; ``--answers`` adds the
labelled answers of data/samples/real_answers. The output is one JSON line per part.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import torch
from scipy.stats import binomtest

from benchmarks.decoder_verifier import DecoderScorer, load_adapter
from benchmarks.decoder_verifier_rows import HELD_OUT_KINDS, TRAINED_KINDS, Rows, make_rows
from benchmarks.decoder_verifier_training import arguments_parser, model_of
from benchmarks.real_answers import answers, records
from data.pairs import PairExample
from evaluation.detection.intervals import ScoreEstimate
from evaluation.detection.verifier_scores import score_pairs
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.contrast_scorer import ContrastScorer
from model.pairs.scoring import Pair, PairScorer
from model.verifier.scorer import load_support_scorer

THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Share:
    """A share: count of n."""

    count: float
    n: int

    def __str__(self) -> str:
        """Return the share with the interval of Clopper and Pearson 1934. Half counts are rounded down for the
        interval.
        """
        low, high = binomtest(int(self.count), self.n).proportion_ci(method="exact")
        return f"{self.count / self.n:.2f} [{low:.2f}, {high:.2f}]"


def kind_shares(scorer: PairScorer, rows: Rows) -> dict[str, tuple[Share, Share]]:
    """Return two shares by kind.

    The first is that of pairs whose right claim has more support than the wrong one (a tie counts half). The second is
    that of claims on the right side of the threshold.
    """
    shares = {}
    for kind, pairs in rows.kinds.items():
        scored = [Pair(p.evidence, claim) for p in pairs for claim in (p.right, p.wrong)]
        supports = scorer.score(scored)
        right, wrong = supports[::2], supports[1::2]
        ordered = sum((r > w) + 0.5 * (r == w) for r, w in zip(right, wrong, strict=True))
        sides = sum(r >= THRESHOLD for r in right) + sum(w < THRESHOLD for w in wrong)
        shares[kind] = Share(ordered, len(pairs)), Share(sides, 2 * len(pairs))
    return shares


def judging_errors(scorer: PairScorer, path: Path) -> dict[str, Share]:
    """Return the share of cases that are judged differently than expected.

    Cases are grouped by the expected label, H or S, and by language: ASCII text, which is nearly always English, or
    other.
    """
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    supports = scorer.score([Pair(" ".join(c["contexts"]), c["answer"], c.get("question", "")) for c in cases])
    errors_by_group: dict[str, list[bool]] = {}
    for case, support in zip(cases, supports, strict=True):
        plain = "".join(case["contexts"]).isascii()
        error = (support >= THRESHOLD) != (case["expected"] == "S")
        errors_by_group.setdefault(f"{case['expected']}, {'English' if plain else 'other languages'}", []).append(error)
    return {name: Share(sum(errors), len(errors)) for name, errors in sorted(errors_by_group.items())}


def labelled_answers() -> list[PairExample]:
    """Return answers of a real model to the sample questions, with the documents that answer them as evidence."""
    rows = [row for row in answers() if row["source"] == "samples" and row["label"] != "abstained"]
    return [
        PairExample(
            "\n\n".join(str(text) for text in record["contexts"]),  # type: ignore[attr-defined]
            row["answer"],
            row["label"] != "hallucinated",
            row["question"],
            source="real_answers",
            group=row["question"],
        )
        for row, record in zip(rows, records(rows), strict=True)
        if record["contexts"]
    ]


def main() -> None:
    """Measure and print."""
    parser = arguments_parser()
    parser.description = __doc__
    parser.add_argument("--network", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--judging", type=Path)
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--only", action="append", help="measure only this one; may be repeated")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    rows = make_rows(arguments.rows)
    openers: dict[str, Callable[[], PairScorer]] = {
        "smollm2": partial(_decoder, arguments),
        "shipped": load_support_scorer,
    }
    for name, folder in (option.split("=", 1) for option in arguments.network):
        openers[name] = partial(load_support_scorer, Path(folder))
    for name, opener in openers.items():
        if arguments.only and name not in arguments.only:
            continue
        cached = CachedScorer(opener())
        for rules, scorer in (("", cached), ("with rules", ContrastScorer(cached))):
            for part, result in _parts(scorer, rows, arguments):
                print(json.dumps({"name": name, "rules": rules, part: result}), flush=True)


def _decoder(arguments: argparse.Namespace) -> DecoderScorer:
    model, tokens = model_of(arguments)
    load_adapter(model, arguments.output / "adapter.safetensors")
    return DecoderScorer(model, tokens, "smollm2")


def _parts(scorer: PairScorer, rows: Rows, arguments: argparse.Namespace) -> Iterator[tuple[str, object]]:
    kinds = kind_shares(scorer, rows)
    yield "kinds: ordered pairs, claims on the right side", {k: [str(o), str(s)] for k, (o, s) in kinds.items()}
    for title, names in (("trained kinds", TRAINED_KINDS), ("held-out kinds", HELD_OUT_KINDS)):
        parts = [[kinds[name][i] for name in names] for i in (0, 1)]
        yield title, [str(Share(sum(s.count for s in part), sum(s.n for s in part))) for part in parts]
    if arguments.judging:
        errors = judging_errors(scorer, arguments.judging)
        yield "judging cases, errors", {name: f"{share.count} of {share.n}" for name, share in errors.items()}
    began = time.process_time()
    report = score_pairs(scorer, list(chain.from_iterable(rows.sources.values())))
    spent = time.process_time() - began
    areas = {row.source: [row.scores.n, row.scores.groups, _text(row.scores.auroc)] for row in report.table.sources}
    yield "sources: claims, texts, AUROC", areas
    yield "macro AUROC", _text(report.table.macro_auroc)
    yield "balanced accuracy", _text(report.table.overall.balanced_accuracy)
    if isinstance(scorer, CachedScorer):  # with rules the scores come from the cache
        yield "pairs, CPU seconds", [report.pairs, round(spent, 1)]
    if arguments.answers:
        real = score_pairs(scorer, labelled_answers()).table.overall
        yield "real answers: n, AUROC, balanced accuracy", [real.n, _text(real.auroc), _text(real.balanced_accuracy)]


def _text(estimate: ScoreEstimate) -> str:
    if estimate.estimate is None:
        return f"- ({estimate.reason})"
    if estimate.lower is None or estimate.upper is None:
        return f"{estimate.estimate:.3f} ({estimate.reason})"
    return f"{estimate.estimate:.3f} [{estimate.lower:.3f}, {estimate.upper:.3f}]"


if __name__ == "__main__":
    main()
