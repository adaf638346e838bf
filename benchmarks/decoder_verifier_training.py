"""Train low-rank adapters so that a language model judges claims, within a time limit.

``python -m benchmarks.decoder_verifier_training ROWS.jsonl.bz2 MODEL.gguf --output FOLDER --seconds 3000`` writes
adapter.safetensors and curve.jsonl (AUROC on development claims during training). ROWS: see data.pairs.load_pairs. The
same command resumes from FOLDER/checkpoints.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional as F

from benchmarks.decoder_verifier import (
    DecoderScorer,
    DecoderVerifier,
    PromptTokens,
    load_adapter,
    open_decoder_verifier,
    padded,
    save_adapter,
    start_from_probe,
)
from benchmarks.decoder_verifier_rows import make_rows
from data.pairs import PairExample
from model.pairs.scoring import Pair
from model.training.epochs import Rounds
from model.training.loop import StepLoss, TrainProgress, TrainSettings, run_steps
from model.training.pair_rows import PairRow, RowClaim, pair_batches, pair_rows_sha256


def arguments_parser() -> argparse.ArgumentParser:
    """Return a parser with the arguments that training and measuring share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument(
        "--layers", type=int, default=None, help="number of layers to keep, from the bottom (default all)"
    )
    parser.add_argument("--first-layer", type=int, default=8)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--scale", type=float, default=16.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def model_of(arguments: argparse.Namespace) -> tuple[DecoderVerifier, PromptTokens]:
    """Return the model that the arguments select, with new adapters."""
    a = arguments
    torch.set_num_threads(a.threads)
    return open_decoder_verifier(
        a.model, layers=a.layers, first_layer=a.first_layer, rank=a.rank, scale=a.scale, seed=a.seed
    )


def as_pair(example: PairExample) -> Pair:
    """Return the part of an example that is scored."""
    return Pair(example.evidence, example.claim, example.question)


def main() -> None:
    """Train, or resume an interrupted training."""
    parser = arguments_parser()
    parser.description = __doc__
    parser.add_argument("--seconds", type=float, default=3000.0)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--start", type=Path, help="adapter to start from")
    parser.add_argument(
        "--probe", type=int, default=300, help="number of rows to which the head is fitted first (0: none)"
    )
    parser.add_argument("--tokens-per-batch", type=int, default=1200)
    parser.add_argument("--check-seconds", type=float, default=480.0)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows, (model, tokens) = make_rows(arguments.rows), model_of(arguments)
    prompts = tokens.encode([as_pair(e) for e in rows.train])
    train = [
        PairRow((prompt,), (RowClaim(len(prompt) - 1, len(prompt), example.supported),), example.source)
        for prompt, example in zip(prompts, rows.train, strict=True)
    ]
    print(f"{len(train)} rows, {sum(map(len, prompts))} tokens, {len(rows.development)} development claims", flush=True)
    if arguments.start:
        load_adapter(model, arguments.start)
    elif arguments.probe:
        plain = [i for i, e in enumerate(rows.train) if not e.source.startswith("contrast")][: arguments.probe]
        start_from_probe(model, [prompts[i] for i in plain], [rows.train[i].supported for i in plain])
    settings = TrainSettings(
        learning_rate=arguments.learning_rate,
        seconds=arguments.seconds,
        tokens_per_batch=arguments.tokens_per_batch,
        seed=arguments.seed,
    )
    plan = Rounds(lambda epoch: pair_batches(train, tokens=settings.tokens_per_batch, seed=settings.seed, epoch=epoch))
    curve = _Curve(model, tokens, rows.development, arguments)
    curve.check(TrainProgress(0, 0, float("nan"), 0.0, 0.0))

    def loss_of(step: int) -> StepLoss:
        these = [train[i] for i in plan.batch(step)]
        ids, lengths = padded([row.windows[0] for row in these])
        targets = torch.tensor([float(row.claims[0].supported) for row in these])
        model.decoder.train()
        curve.tokens += int(lengths.sum())
        curve.rows += len(these)
        with torch.autocast("cpu", enabled=False):  # the weights have their precision already
            loss = F.binary_cross_entropy_with_logits(model(ids, lengths), targets)
        return StepLoss(loss, int(ids.numel()))

    run_steps(
        model,
        loss_of,
        plan.steps(settings),
        settings,
        arguments.output / "checkpoints",
        identity={"rows": pair_rows_sha256(train), "first_layer": arguments.first_layer, "layers": arguments.layers},
        progress=curve,
    )
    curve.check(curve.last)
    save_adapter(model, arguments.output / "adapter.safetensors")


class _Curve:
    """A callback that measures AUROC on the development claims at regular intervals, prints it and writes it to a
    file.
    """

    def __init__(
        self,
        model: DecoderVerifier,
        tokens: PromptTokens,
        development: Sequence[PairExample],
        arguments: argparse.Namespace,
    ) -> None:
        self.scorer, self.development = DecoderScorer(model, tokens, "in training"), development
        self.path, self.every = arguments.output / "curve.jsonl", arguments.check_seconds
        self.tokens = self.rows = 0
        self.last = TrainProgress(0, 0, float("nan"), 0.0, 0.0)
        self._checked = self._reported = time.monotonic()

    def __call__(self, progress: TrainProgress) -> None:
        self.last = progress
        now = time.monotonic()
        if now - self._reported > 60:
            self._reported = now
            print(
                f"step {progress.step} of {progress.steps}, loss {progress.loss:.3f}, {self.tokens} tokens, "
                f"{progress.seconds:.0f} s",
                flush=True,
            )
        if now - self._checked > self.every:
            self.check(progress)
            self._checked = time.monotonic()

    def check(self, progress: TrainProgress) -> None:
        """Score the development claims of each source and kind."""
        began = time.monotonic()
        supports = self.scorer.score([as_pair(e) for e in self.development])
        parts: dict[str, tuple[list[bool], list[float]]] = {}
        for example, support in zip(self.development, supports, strict=True):
            truth, scores = parts.setdefault(example.source, ([], []))
            truth.append(example.supported)
            scores.append(support)
        line = {
            "step": progress.step,
            "seconds": round(progress.seconds),
            "rows": self.rows,
            "tokens": self.tokens,
            "loss": progress.loss,
            "auroc": {s: round(float(roc_auc_score(*part)), 3) for s, part in parts.items() if len(set(part[0])) == 2},
            "check_seconds": round(time.monotonic() - began, 1),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
