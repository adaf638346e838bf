"""Inputs of verification_speed: the pairs that a run sends to its verifier, and a checkpoint that both sides can
load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.outcomes import Verdict
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.verifier import VerificationItem
from model.checkpoints.minilm import minilm_folder
from model.pairs.foreign_scorer import ForeignPairScorer
from model.pairs.scoring import Pair, PairScorer


class Recorder:
    """A PairScorer that records its inputs. It has the capacity of a given scorer; its scores are token overlaps."""

    def __init__(self, scorer: PairScorer) -> None:
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
    """A verifier that gets one answer at a time, so that the recorded calls share nothing between answers."""

    def __init__(self, verifier: EntailmentVerifier) -> None:
        self._verifier, self.name = verifier, verifier.name

    def extract(self, question: Question, completion: str) -> Extraction:
        return self._verifier.extract(question, completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        return tuple(self._verifier.verify([item])[0] for item in items)


def record(home: Path, scorer: PairScorer, questions: int, samples: int) -> list[tuple[Pair, ...]]:
    """Return the pairs that a run on the sample questions (closed_book and rag) sends to its verifier, call by call."""
    from app.judging.run_judge import Judge
    from app.pipeline import Pipeline
    from app.retrieval.passages import Passages
    from app.runs.evaluate import EvaluationPlan, evaluate
    from app.settings import Settings
    from data.loaders import load_documents, load_question_files
    from data.samples_paths import sample_corpus_path, sample_question_paths
    from evaluation.verifiers.evidence import GoldEvidence, GoldOrSearchedEvidence, SearchedEvidence

    recorder = Recorder(scorer)
    with Pipeline(Settings(home=home)) as pipeline:
        pipeline.index("samples", load_documents([sample_corpus_path()]))
        search = pipeline.search("samples")
        retriever = search.retriever
        searched = SearchedEvidence(search, retriever.generation_hash)
        evidence = GoldOrSearchedEvidence(GoldEvidence(Passages(retriever), search), searched)
        questions_drawn = load_question_files(list(sample_question_paths()))[:questions]
        plan = EvaluationPlan(questions_drawn, ("closed_book", "rag"), "samples", samples)
        evaluate(pipeline, plan, judge=Judge(OneByOne(EntailmentVerifier(recorder, evidence))))
    return recorder.calls


def make_checkpoint(folder: Path, seed: int) -> None:
    """Write a checkpoint in transformers' format: MiniLM's six layers, a random pooler, and a random head of one
    logit.
    """
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
    """Scale the head so that scores are distributed like those of a trained model, with a median of 0.5.

    This is the hardest case for the agreement of labels.
    """
    from safetensors.torch import load_file, save_file

    scores = torch.tensor(ForeignPairScorer(str(folder)).score(pairs), dtype=torch.float64)
    logits = torch.logit(scores)
    weights = load_file(folder / "model.safetensors")
    scale = 3.0 / float(logits.std())
    bias = float(weights["classifier.bias"])
    weights["classifier.weight"] = weights["classifier.weight"] * scale
    weights["classifier.bias"] = torch.tensor([(bias - float(logits.median())) * scale])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def read_alone(pair: Pair) -> Pair:
    """Return the pair as an external scorer reads it: a short claim is preceded by its question."""
    short = pair.question.strip() and len(pair.claim.split()) < 8
    return Pair(pair.evidence, f"{pair.question} {pair.claim}" if short else pair.claim)
