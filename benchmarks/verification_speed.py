"""Scoring the pairs of a real run against CrossEncoder.predict: python -m benchmarks.verification_speed [--pairs N].

The pairs are those that `plumbline evaluate` asks its verifier on the sample questions (rag and closed_book, several
samples each). Both sides load one checkpoint made here: MiniLM's layers with a random head. Limited by the encoder's
matrix products (GFLOP printed): both sides do the same ones, so what may differ is padding, tokenising and the calls
between. Interleaved, warmed up once, in one process. Then all pairs as the answers ask for them, repetitions included,
in one call on each side: what deduplication by content saves. Ends in one JSON line.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from data.questions import Question
from evaluation.claims import Extraction
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.outcomes import Verdict
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.verifier import VerificationItem
from model.foreign_pair_scorer import ForeignPairScorer, Precision
from model.minilm import minilm_folder
from model.pair_scoring import Pair

SIDES = ("ours fp32", "peer fp32", "ours bf16", "peer bf16")
_BATCH = 32


class Recorder:
    """A PairScorer with the rooms of a real one, which notes what it is asked. Its scores are token overlaps."""

    def __init__(self, scorer: ForeignPairScorer) -> None:
        self._scorer, self._overlap = scorer, TokenOverlapScorer()
        self.calls: list[tuple[Pair, ...]] = []
        self.name = scorer.name

    def room(self, claim: str, question: str = "") -> int:
        return self._scorer.room(claim, question)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return self._scorer.count(texts)

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.calls.append(tuple(pairs))
        return self._overlap.score(pairs)


class OneByOne:
    """The verifier asked about one answer at a time, so that what is recorded is what answers cost without sharing."""

    def __init__(self, verifier: EntailmentVerifier) -> None:
        self._verifier, self.name = verifier, verifier.name

    def extract(self, question: Question, completion: str) -> Extraction:
        return self._verifier.extract(question, completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        return tuple(self._verifier.verify([item])[0] for item in items)


def make_checkpoint(folder: Path, seed: int) -> None:
    """MiniLM's six layers, a random pooler and a random head of one logit, written as transformers does."""
    from transformers import AutoModel, AutoTokenizer, BertForSequenceClassification

    torch.manual_seed(seed)
    body = AutoModel.from_pretrained(str(minilm_folder()), local_files_only=True)
    body.config.num_labels = 1
    model = BertForSequenceClassification(body.config)
    model.bert.load_state_dict(body.state_dict(), strict=False)
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(str(minilm_folder()), local_files_only=True)
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)


def spread_head(folder: Path, pairs: Sequence[Pair]) -> None:
    """Scale the head so that scores spread like a trained model's and half of them are above 0.5: the hardest place."""
    from safetensors.torch import load_file, save_file

    scores = torch.tensor(ForeignPairScorer(str(folder)).score(pairs[:400]), dtype=torch.float64)
    logits = torch.logit(scores)
    weights = load_file(folder / "model.safetensors")
    scale = 3.0 / float(logits.std())
    bias = float(weights["classifier.bias"])
    weights["classifier.weight"] = weights["classifier.weight"] * scale
    weights["classifier.bias"] = torch.tensor([(bias - float(logits.median())) * scale])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def record(home: Path, scorer: ForeignPairScorer, questions: int, samples: int) -> list[tuple[Pair, ...]]:
    """What a run on the sample questions asks its verifier, call by call."""
    from app.judging import Judge
    from app.passages import Passages
    from app.pipeline import Pipeline
    from app.runs import EvaluationPlan, evaluate
    from app.settings import Settings
    from data.loaders import load_documents, load_question_files
    from data.samples_paths import sample_corpus_path, sample_question_paths
    from evaluation.verifiers.evidence import GoldElseSearched, GoldEvidence, SearchedEvidence

    recorder = Recorder(scorer)
    with Pipeline(Settings(home=home)) as line:
        line.index("samples", load_documents([sample_corpus_path()]))
        search = line.search("samples")
        retriever = search.retriever
        searched = SearchedEvidence(search, retriever.generation_hash)
        evidence = GoldElseSearched(GoldEvidence(Passages(retriever), search), searched)
        asked = load_question_files(list(sample_question_paths()))[:questions]
        plan = EvaluationPlan(asked, ("closed_book", "rag"), "samples", samples)
        evaluate(line, plan, judge=Judge(OneByOne(EntailmentVerifier(recorder, evidence))))
    return recorder.calls


def timed(work: Callable[[], Sequence[float]]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, np.asarray(found, dtype=np.float64)


def peer(folder: Path, precision: Precision) -> Callable[[Sequence[Pair]], Sequence[float]]:
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
        found = model.predict([(p.evidence, p.claim) for p in pairs], batch_size=_BATCH, show_progress_bar=False)
        return [float(score) for score in found]

    return predict


def read_alone(pair: Pair) -> Pair:
    """The pair with the words that our scorer reads as its claim (a short one behind its question) as its claim."""
    short = pair.question.strip() and len(pair.claim.split()) < 8
    return Pair(pair.evidence, f"{pair.question} {pair.claim}" if short else pair.claim)


def gigaflops(scorer: ForeignPairScorer, pairs: Sequence[Pair]) -> float:
    """Products of the encoder without padding: 24 h^2 + 4 h T a token and layer (six layers of 384)."""
    evidence, claims = scorer.count([p.evidence for p in pairs]), scorer.count([p.claim for p in pairs])
    sizes = [min(a + b + 3, 512) for a, b in zip(evidence, claims, strict=True)]
    return sum(6 * (24 * 384**2 * t + 4 * 384 * t * t) for t in sizes) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000, help="distinct pairs scored, evenly out of all")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-bf16", action="store_true", help="where the processor has no bf16 products")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name) / "checkpoint", Path(name) / "home"
        make_checkpoint(folder, 1)
        calls = record(home, ForeignPairScorer(str(folder)), args.questions, args.samples)
        asked = [read_alone(pair) for call in calls for pair in call]
        distinct = list(dict.fromkeys(asked))
        pairs = distinct[:: max(1, len(distinct) // args.pairs)][: args.pairs]
        spread_head(folder, pairs)
        report(folder, calls, pairs, {"pairs asked": len(asked), "distinct": len(distinct)}, args)


def report(
    folder: Path,
    calls: Sequence[Sequence[Pair]],
    pairs: Sequence[Pair],
    counts: dict[str, int],
    args: argparse.Namespace,
) -> None:
    sides = SIDES[:2] if args.no_bf16 else SIDES
    full = ForeignPairScorer(str(folder))
    run: dict[str, Callable[[], Sequence[float]]] = {}
    for side in sides:
        precision: Precision = "bfloat16" if side.endswith("bf16") else "float32"
        ask = ForeignPairScorer(str(folder), precision=precision).score if "ours" in side else peer(folder, precision)
        run[side] = lambda ask=ask: ask(pairs)
        ask(pairs[:64])
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    scores: dict[str, np.ndarray] = {}
    for _ in range(args.repeats):
        for side in sides:
            took, scores[side] = timed(run[side])
            seconds[side].append(took)
    work = gigaflops(full, pairs)
    print(f"{len(pairs)} distinct pairs, {work:.0f} GFLOP, {torch.get_num_threads()} threads, {args.repeats} repeats")
    for side in sides:
        best = min(seconds[side])
        print(
            f"{side:10s} best {best:7.2f} s  median {statistics.median(seconds[side]):7.2f} s  "
            f"{len(pairs) / best:6.0f} pairs/s  {work / best:5.0f} GFLOP/s"
        )

    def times(one: str, two: str) -> float:
        """How many times as fast `one` is as `two`: the median over the repeats, each with its own neighbour."""
        return round(statistics.median(b / a for a, b in zip(seconds[one], seconds[two], strict=True)), 3)

    result: dict[str, object] = {
        "benchmark": "verification_speed",
        **counts,
        "scored": len(pairs),
        "repeats": args.repeats,
        "fp32_times_peer_fp32": times("ours fp32", "peer fp32"),
        "largest_difference_fp32": float(np.abs(scores["ours fp32"] - scores["peer fp32"]).max()),
    }
    if not args.no_bf16:
        same = (scores["ours bf16"] >= 0.5) == (scores["ours fp32"] >= 0.5)
        result |= {
            "bf16_times_peer_fp32": times("ours bf16", "peer fp32"),
            "bf16_times_peer_bf16": times("ours bf16", "peer bf16"),
            "labels_equal_bf16": round(float(same.mean()), 4),
            "peer_labels_equal_bf16": round(
                float(((scores["peer bf16"] >= 0.5) == (scores["peer fp32"] >= 0.5)).mean()), 4
            ),
        }
    chosen = set(pairs)
    everything = [p for call in calls for q in call if (p := read_alone(q)) in chosen]
    cached, other = CachedScorer(full), peer(folder, "float32")
    other(pairs[:64])
    ours, _ = timed(lambda: cached.score(everything))
    theirs, _ = timed(lambda: other(everything))
    print(f"as asked: {len(everything)} pairs, {cached.scored} scored in {ours:.2f} s; the peer all, {theirs:.2f} s")
    result |= {"asked_with_repetitions": len(everything), "deduplicated_times_peer": round(theirs / ours, 3)}
    result |= {"seconds_best": {side: round(min(seconds[side]), 3) for side in sides}}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
