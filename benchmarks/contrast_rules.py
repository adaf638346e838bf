"""Costs and benefits of the rules of evaluation.contrast on labelled pairs, by source.

``python -m benchmarks.contrast_rules ROWS.jsonl.bz2 --per-source N`` scores N rows of each source with the network of
the shipped verifier, with and without the rules. It prints AUROC and balanced accuracy at 0.5 of both, and the number
of changed scores. The last line is JSON.
"""

from __future__ import annotations

import argparse
import bz2
import json
import random
from collections import defaultdict
from pathlib import Path

from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from evaluation.contrast.contrast import contrast
from evaluation.contrast.restated import restated
from evaluation.verifiers.contrast_scorer import CONTRASTED, RESTATED
from model.pairs.scoring import Pair
from model.verifier.scorer import load_support_scorer


def main() -> None:
    """Score a sample of each source and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--per-source", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    by_source: dict[str, list[dict[str, str]]] = defaultdict(list)
    with bz2.open(arguments.rows, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            by_source[row["source"]].append(row)
    chosen = random.Random(arguments.seed)
    plain = load_support_scorer()
    table = {}
    columns = "n | AUROC before | after | balanced accuracy before | after | capped (wrongly) | lifted (wrongly)"
    print(f"| source | {columns} |")
    print("|---|---|---|---|---|---|---|---|")
    for source, rows in sorted(by_source.items()):
        rows = chosen.sample(rows, min(arguments.per_source, len(rows)))
        pairs = [Pair(r["evidence"], r["claim"], r["question"]) for r in rows]
        truth = [str(r["supported"]) in ("True", "1", "true") for r in rows]
        before = plain.score(pairs)
        capped = [s > CONTRASTED and bool(contrast(p.claim, p.evidence)) for p, s in zip(pairs, before, strict=True)]
        lifted = [s < RESTATED and restated(p.claim, p.evidence) for p, s in zip(pairs, before, strict=True)]
        after = [CONTRASTED if c else RESTATED if r else s for s, c, r in zip(before, capped, lifted, strict=True)]
        figures = [
            len(rows),
            roc_auc_score(truth, before),
            roc_auc_score(truth, after),
            balanced_accuracy_score(truth, [s >= 0.5 for s in before]),
            balanced_accuracy_score(truth, [s >= 0.5 for s in after]),
        ]
        wrongly_capped = sum(c and t for c, t in zip(capped, truth, strict=True))
        wrongly_lifted = sum(r and not t for r, t in zip(lifted, truth, strict=True))
        table[source] = [*figures, sum(capped), wrongly_capped, sum(lifted), wrongly_lifted]
        numbers = " | ".join(f"{f:.3f}" for f in figures[1:])
        changed = f"{sum(capped)} ({wrongly_capped}) | {sum(lifted)} ({wrongly_lifted})"
        print(f"| {source} | {len(rows)} | {numbers} | {changed} |", flush=True)
    print(json.dumps(table))


if __name__ == "__main__":
    main()
