"""Scoring the pairs of a real run compared with CrossEncoder.predict: python -m benchmarks.verification_speed [--pairs
N].

The pairs are those that `plumbline evaluate` sends to the shipped verifier for the sample questions (rag and
closed_book, several samples each). Two of our models score them. One is a checkpoint of MiniLM's shape that the peer
also loads, so that scores can be compared pair by pair. The other is the shipped verifier, which no CrossEncoder can
load. Its peer is that checkpoint, which has the same shape but reads fewer tokens (a sentence without its question;
both counts are printed).

Time is bound by the encoder's matrix products (GFLOP printed). Differences come from the layout of the weights,
padding, tokenising and the calls between. Both sides are interleaved in one process that keeps freed memory, which
helps both, after one warm-up. Ratios are medians over the repeats. Then each side scores all requests for these pairs
in one call, which shows the effect of deduplication by content. Processor time is given in addition to the wall clock,
for a machine with other load. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from benchmarks.verification_pairs import make_checkpoint, read_alone, record, spread_head
from evaluation.verifiers.cached_scorer import CachedScorer
from model.checkpoints.shipped import shipped_verifier
from model.decoder.packing import pack_blocks
from model.hardware.device import bf16_pays
from model.hardware.freed_memory import keep_freed_memory
from model.pairs.foreign_scorer import ForeignPairScorer, Precision
from model.pairs.scoring import Pair, PairScorer
from model.verifier.files import load_support
from model.verifier.scorer import SupportScorer, load_support_scorer

_BATCH = 32
PROMISED = {
    "fp32_times_peer_fp32": 1.0,
    "largest_difference_fp32": 1e-5,
    "bf16_times_peer_fp32": 2.0,
    "bf16_times_peer_bf16": 1.0,
    "labels_equal_bf16": 0.995,
}


@dataclass
class Side:
    """A scorer, its time in each repeat, and its latest scores."""

    name: str
    score: Callable[[], Sequence[float]]
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))

    def run(self) -> None:
        start, used = time.perf_counter(), time.process_time()
        scores = self.score()
        self.processor.append(time.process_time() - used)
        self.wall.append(time.perf_counter() - start)
        self.scores = np.asarray(scores, dtype=np.float64)

    def times(self, peer: Side, of: str = "wall") -> float:
        """Return the speed relative to the peer: the median over the repeats of the ratio within a repeat. of: wall or
        processor.
        """
        pairs = zip(getattr(self, of), getattr(peer, of), strict=True)
        return round(statistics.median(theirs / ours for ours, theirs in pairs), 3)

    def labels(self) -> np.ndarray:
        return self.scores >= 0.5


def peer(folder: Path, precision: Precision) -> Callable[[Sequence[Pair]], Sequence[float]]:
    """Return CrossEncoder.predict of a checkpoint, called as usual."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(
        str(folder),
        device="cpu",
        local_files_only=True,
        max_length=512,
        activation_fn=torch.nn.Sigmoid(),
        model_kwargs={"dtype": getattr(torch, precision)},
    )

    def predict(pairs: Sequence[Pair]) -> Sequence[float]:
        scores = model.predict([(p.evidence, p.claim) for p in pairs], batch_size=_BATCH, show_progress_bar=False)
        return [float(score) for score in scores]

    return predict


def shipped(precision: Precision) -> SupportScorer:
    """Return the shipped verifier in this precision, packed as by ``load_support_scorer``."""
    loaded = load_support(shipped_verifier())
    pack_blocks(loaded.model.blocks, getattr(torch, precision))
    return SupportScorer(loaded, bf16=precision == "bfloat16")


def tokens_read(scorer: PairScorer, pairs: Sequence[Pair], special: int, with_question: bool) -> list[int]:
    """Return the number of tokens of each pair. special: number of special tokens. with_question: whether the question
    counts.
    """
    counts = np.asarray([scorer.count([part(p) for p in pairs]) for part in (_evidence, _claim, _question)])
    return [int(t) for t in np.minimum(counts[:2].sum(axis=0) + counts[2] * with_question + special, 512)]


def gigaflops(tokens: Sequence[int]) -> float:
    """Return the GFLOP of the encoder without padding: 24 h^2 + 4 h T per token and layer (six layers of 384)."""
    return sum(6 * (24 * 384**2 * t + 4 * 384 * t * t) for t in tokens) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=int, default=800, help="number of distinct pairs to score, spread evenly over all"
    )
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--home", type=Path, help="folder that keeps index and run for later calls")
    parser.add_argument("--no-bf16", action="store_true", help="skip bf16 (always skipped where it is not faster)")
    args = parser.parse_args()
    keep_freed_memory()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name) / "checkpoint", args.home or Path(name) / "home"
        calls = record(home, load_support_scorer(), args.questions, args.samples)
        requested = [pair for call in calls for pair in call]
        distinct = list(dict.fromkeys(requested))
        pairs = distinct[:: max(1, len(distinct) // args.pairs)][: args.pairs]
        print(f"{len(requested)} pairs, {len(distinct)} distinct, {time.perf_counter() - began:.0f} s to record them")
        make_checkpoint(folder, 1)
        spread_head(folder, [read_alone(pair) for pair in pairs])
        bf16 = not args.no_bf16 and bf16_pays(torch.device("cpu"))
        result = {"benchmark": "verification_speed", "asked": len(requested), "distinct": len(distinct)}
        result |= compared(folder, pairs, args.repeats, bf16)
        result |= deduplicated(folder, calls, pairs)
    print(json.dumps(result | {"seconds": round(time.perf_counter() - began), "promised": PROMISED}))


def compared(folder: Path, pairs: Sequence[Pair], repeats: int, bf16: bool) -> dict[str, object]:
    """Measure both of our models and the peer, interleaved."""
    alone = [read_alone(pair) for pair in pairs]
    precisions: tuple[Precision, ...] = ("float32", "bfloat16") if bf16 else ("float32",)
    sides: dict[str, Side] = {}
    for precision in precisions:
        short = "bf16" if precision == "bfloat16" else "fp32"
        mine, theirs = ForeignPairScorer(str(folder), precision=precision), peer(folder, precision)
        own = shipped(precision)
        for name, score, read in (
            (f"checkpoint {short}", mine.score, alone),
            (f"peer {short}", theirs, alone),
            (f"shipped {short}", own.score, pairs),
        ):
            score(read[:64])
            sides[name] = Side(name, lambda score=score, read=read: score(read))
    for repeat in range(repeats):
        for side in sides.values() if repeat % 2 == 0 else reversed(sides.values()):
            side.run()
    sizes = {
        "checkpoint": tokens_read(mine, alone, 3, False),
        "shipped": tokens_read(own, pairs, 4, True),
    }
    threads = torch.get_num_threads()
    print(f"{len(pairs)} distinct pairs, {threads} threads, {repeats} repeats, weights packed: {mine.packed}")
    for side in sides.values():
        best, work = min(side.wall), gigaflops(sizes["shipped" if "shipped" in side.name else "checkpoint"])
        print(
            f"{side.name:16s} best {best:7.2f} s  median {statistics.median(side.wall):7.2f} s  processor "
            f"{min(side.processor):7.2f} s  {len(pairs) / best:6.0f} pairs/s  {work / best:5.0f} GFLOP/s"
        )
    both = {name: ratios(sides, name) for name in ("checkpoint", "shipped")}
    difference = np.abs(sides["checkpoint fp32"].scores - sides["peer fp32"].scores).max()
    both["checkpoint"]["largest_difference_fp32"] = float(difference)
    if bf16:
        same = float((sides["peer bf16"].labels() == sides["peer fp32"].labels()).mean())
        both["checkpoint"]["peer_labels_equal_bf16"] = round(same, 4)
    tokens: dict[str, object] = {f"{name}_tokens": sum(counts) for name, counts in sizes.items()}
    seconds: dict[str, object] = {side.name: round(min(side.wall), 3) for side in sides.values()}
    return {"scored": len(pairs), "repeats": repeats, "threads": threads} | both | tokens | {"seconds_best": seconds}


def ratios(sides: dict[str, Side], name: str) -> dict[str, float]:
    """Return the speed of one of our models relative to the peer, by wall clock and by processor time."""
    figures: dict[str, float] = {}
    for ours, theirs in (("fp32", "fp32"), ("bf16", "fp32"), ("bf16", "bf16")):
        if f"peer {ours}" not in sides:
            continue
        one, two = sides[f"{name} {ours}"], sides[f"peer {theirs}"]
        figures[f"{ours}_times_peer_{theirs}"] = one.times(two)
        figures[f"{ours}_times_peer_{theirs}_processor"] = one.times(two, "processor")
    if "peer bf16" in sides:
        same = sides[f"{name} bf16"].labels() == sides[f"{name} fp32"].labels()
        figures["labels_equal_bf16"] = round(float(same.mean()), 4)
    return figures


def deduplicated(folder: Path, calls: Sequence[Sequence[Pair]], pairs: Sequence[Pair]) -> dict[str, object]:
    """Score every request for these pairs: our scorer with the verifier's cache, and the peer, which scores them
    all.
    """
    chosen = set(pairs)
    everything = [read_alone(pair) for call in calls for pair in call if pair in chosen]
    ours, theirs = CachedScorer(ForeignPairScorer(str(folder))), peer(folder, "float32")
    theirs(everything[:64])
    one, two = Side("cached", lambda: ours.score(everything)), Side("peer", lambda: theirs(everything))
    two.run()
    one.run()
    print(
        f"as asked: {len(everything)} pairs, {ours.scored} scored in {one.wall[0]:.2f} s; the peer {two.wall[0]:.2f} s"
    )
    return {"asked_with_repetitions": len(everything), "deduplicated_times_peer": one.times(two)}


def _evidence(pair: Pair) -> str:
    return pair.evidence


def _claim(pair: Pair) -> str:
    return pair.claim


def _question(pair: Pair) -> str:
    return pair.question


if __name__ == "__main__":
    main()
