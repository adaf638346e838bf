"""Overhead of a run beyond generation and verification: python -m benchmarks.run_overhead.

The same prompts, seeds and answers run twice, interleaved block by block. One side is run_experiment, which commits
samples and verdicts of each cell to SQLite; the other makes bare calls of generator and verifier. The prompt cache is
off, because the second side would reuse the prompts of the first. The overhead is the median over blocks, reported with
its interquartile range and processor time. Time is bound by the reader's decoding; the run adds building rows and one
durable commit per cell. Target: at most 5 %. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import quantiles

from data.documents import Document
from data.loaders import load_documents, load_question_files
from data.questions import Question
from data.samples_paths import sample_corpus_path, sample_question_paths
from data.store import Store
from evaluation.runs.arms import Arm, ClosedBook, Oracle
from evaluation.runs.experiment import configure, run_experiment
from evaluation.runs.run_config import Decoding, RunConfig
from evaluation.runs.run_store import RunStore
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem
from generation.engine.options import EngineOptions
from generation.generator import GenerationTask, generate_many
from generation.reader.reader import EmbeddedReader
from retrieval.chunking.chunks import Chunk

BLOCK = 6
_PIECE = 900  # characters
GRID = (Decoding(0.0, max_tokens=32), Decoding(1.0, max_tokens=32))


class Library:
    """The sample corpus in chunks, as arms use it."""

    def __init__(self) -> None:
        documents = [d for d in load_documents([sample_corpus_path()]) if isinstance(d, Document)]
        self._chunks = {
            d.id: tuple(Chunk(d.id, i, i + len(text), text, d.title) for i, text in _pieces(d.text)) for d in documents
        }

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return self._chunks.get(document_id, ())


def _pieces(text: str) -> list[tuple[int, str]]:
    return [(i, text[i : i + _PIECE]) for i in range(0, len(text), _PIECE)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=18)
    given = parser.parse_args()
    options = EngineOptions(memory_bytes=1 << 28, cache_bytes=0, invariant=True)
    reader, verifier = EmbeddedReader(options=options), ReferenceVerifier()
    arms: tuple[Arm, ...] = (ClosedBook(), Oracle(Library(), 4))
    questions = [q for q in load_question_files(sample_question_paths()) if q.evidence and q.references]
    blocks = [questions[i * BLOCK : (i + 1) * BLOCK] for i in range(given.blocks + 1)]
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{Path(folder) / 'runs.db'}") as store:
        runs = RunStore(store)
        seconds: dict[str, list[float]] = {"run": [], "bare": []}
        processor: dict[str, float] = {"run": 0.0, "bare": 0.0}
        for number, block in enumerate(blocks):
            config = _config(block, arms, reader, verifier)

            def run_block(config: RunConfig = config, block: Sequence[Question] = block) -> None:
                run_experiment(config, block, arms, reader, verifier, runs)

            def bare_block(config: RunConfig = config, block: Sequence[Question] = block) -> None:
                bare(config, block, arms, reader, verifier)

            order: list[tuple[str, Callable[[], None]]] = [("run", run_block), ("bare", bare_block)]
            for name, act in order if number % 2 else order[::-1]:
                started, used = time.perf_counter(), time.process_time()
                act()
                if number:  # the first block is a warm-up
                    seconds[name].append(time.perf_counter() - started)
                    processor[name] += time.process_time() - used
    ratios = [run_s / bare_s for run_s, bare_s in zip(seconds["run"], seconds["bare"], strict=True)]
    lower, overhead, upper = (ratio - 1.0 for ratio in quantiles(ratios))
    cells = given.blocks * BLOCK * len(arms)
    result = {"benchmark": "run_overhead", "cells": cells, "samples_per_cell": config.samples_per_cell}
    result |= {"run_s": round(sum(seconds["run"]), 3), "bare_s": round(sum(seconds["bare"]), 3)}
    result |= {"middle_half": [round(lower, 4), round(upper, 4)]}
    result |= {"processor_overhead": round(processor["run"] / processor["bare"] - 1.0, 4)}
    print(json.dumps(result | {"overhead": round(overhead, 4), "target": 0.05, "met": overhead <= 0.05}))


def bare(
    config: RunConfig,
    questions: Sequence[Question],
    arms: Sequence[Arm],
    reader: EmbeddedReader,
    verifier: ReferenceVerifier,
) -> None:
    """Build prompts, generate, extract claims and verify them, without storing anything."""
    for question in questions:
        for arm in arms:
            prompt = reader.prompt(question.text, arm.chunks(question), 32)
            tasks = []
            for d in config.decodings:
                n = config.samples_of(d)
                seeds = tuple(derive_seed(config.seed, question.id, arm.name, d.label, i) for i in range(n))
                tasks.append(GenerationTask(prompt, d.params(n), seeds))
            texts = [c.text for drawn in generate_many(reader, tasks) for c in drawn]
            extracted = [(verifier.extract(question, text).claims, text) for text in texts]
            verifier.verify([VerificationItem(question, claims, text) for claims, text in extracted if claims])


def _config(
    questions: Sequence[Question], arms: Sequence[Arm], reader: EmbeddedReader, verifier: ReferenceVerifier
) -> RunConfig:
    main = Decoding(0.7, max_tokens=32)
    return configure(questions, arms, reader, verifier, samples=5, decoding=main, seed=0, version="0", grid=GRID)


if __name__ == "__main__":
    main()
