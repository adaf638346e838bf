"""Short answers as pairs for `plumbline model eval`, and the calibration of the short-answer scorer.

    python -m benchmarks.short_answers --data QUESTIONS.jsonl [--texts DOCUMENTS] [--reader FOLDER] --output PAIRS.jsonl
    plumbline model eval verifier --data PAIRS.jsonl --json        # by the reader and the network
    plumbline model eval verifier-network --data PAIRS.jsonl --json

The claim of a pair is a question's right or wrong answer in the data (sources end in /noted), or the answer of a reader
that may not decline (sources end in /READER). A reader's answer is right if the question is answerable and the token F1
is at least 0.5. --fit SOURCE (repeatable) also fits verifier.json's slopes and intercept on the pairs of these
questions, with equal weights for each kind and source. It tries the floors in --floors, with and without the network in
addition to the reader; choose the line with the least loss. --reader may be repeated; "reader" is the shipped one.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from data.errors import DataError
from data.reading_examples import ReadingExample, load_reading
from evaluation.detection.calibration import fit_logistic
from evaluation.detection.support import Statement, claim_supports
from evaluation.errors import EvaluationError
from evaluation.reading.squad_metric import squad_f1
from evaluation.verifiers.short_answer_scorer import ReadingUse, ShortAnswerScorer, logit
from generation.errors import GenerationError
from generation.reader.probing import force_answer
from generation.reader.reader import EmbeddedReader
from generation.reader.rows import chunk_contexts
from generation.style.restyling import without_citations
from model.errors import ModelError
from model.pairs.scoring import Pair
from model.verifier.answer_context import is_short
from model.verifier.scorer import load_support_scorer
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.params import ChunkingParams

_RIGHT = 0.5
_TINY = 1e-5  # floor while scoring, small enough that log E can be computed from the support


def main() -> None:
    """Write the pairs, and fit the calibration if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--texts", type=Path, action="append", default=[])
    parser.add_argument("--title", action="append", default=[], help="only questions on articles of this title")
    parser.add_argument("--reader", action="append", default=[])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--fit", action="append", default=[], metavar="SOURCE")
    parser.add_argument("--floors", default="0.01,0.03,0.1,0.2,0.3,0.5")
    given = parser.parse_args()
    try:
        _make(given)
    except (DataError, EvaluationError, ModelError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def _make(given: argparse.Namespace) -> None:
    """Write the pairs.

    Raises DataError, ModelError and OSError for files that cannot be read or written, and EvaluationError if the fit
    fails.
    """
    read = load_reading(given.data, texts=given.texts, skip_bad=True, limit=given.limit)
    examples = [e for e in read.examples if e.context.strip() and (not given.title or e.title in given.title)]
    pairs = list(_noted(examples))
    for name in given.reader:
        pairs += _answer_scores(examples, EmbeddedReader(None if name == "reader" else Path(name)), Path(name).name)
    with given.output.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    print(f"{len(pairs)} pairs: {dict(Counter(str(pair['source']) for pair in pairs))}")
    if given.fit:
        chosen = [pair for pair in pairs if str(pair["source"]).rsplit("/", 1)[0] in given.fit]
        _fit(chosen, [float(floor) for floor in given.floors.split(",")])


def _pair(example: ReadingExample, claim: str, right: bool, kind: str) -> Iterator[dict[str, object]]:
    if claim and is_short(claim):
        evidence = f"{example.title}. {example.context}" if example.title else example.context
        yield {
            "evidence": evidence,
            "question": example.question,
            "claim": claim,
            "supported": right,
            "source": f"{example.source}/{kind}",
            "group": example.title or example.context[:60],
        }


def _noted(examples: Sequence[ReadingExample]) -> Iterator[dict[str, object]]:
    for example in examples:
        if example.wrong:
            yield from _pair(example, example.wrong[0], False, "noted")
            if example.answerable:
                yield from _pair(example, example.answers[0], True, "noted")


def _answer_scores(
    examples: Sequence[ReadingExample], reader: EmbeddedReader, name: str
) -> Iterator[dict[str, object]]:
    pool = chunk_contexts(examples, reader.vocabulary.tokenizer, ChunkingParams())
    for number, (example, own) in enumerate(zip(examples, pool.of_example, strict=True), start=1):
        chunks = [RetrievedChunk(pool.chunks[index], 0.0, rank) for rank, index in enumerate(own, start=1)]
        try:
            prompt = reader.prompt(example.question, chunks, 32)
        except GenerationError:  # a question longer than its context
            continue
        text = without_citations(force_answer(reader, prompt).completion)
        right = example.answerable and squad_f1(text, example.answers) >= _RIGHT
        yield from _pair(example, text, right, name)
        if number % 100 == 0:
            print(f"{name}: {number} of {len(examples)}", flush=True)


def _fit(pairs: Sequence[dict[str, object]], floors: Sequence[float]) -> None:
    plain = ReadingUse(1.0, 0.0, _TINY)
    network = load_support_scorer()
    scorer = ShortAnswerScorer(network, EmbeddedReader, "to be calibrated", plain)
    pairs = [p for p in pairs if scorer.reads(Pair(str(p["evidence"]), str(p["claim"]), str(p["question"])))]
    statements = [Statement(str(p["evidence"]), (str(p["claim"]),), str(p["question"])) for p in pairs]
    supports = claim_supports(scorer, statements, together=False)
    read = [claims[0] for claims in supports.claims]
    # Score the window in which the reader found most, as the verifier does.
    windows = [
        Pair(support.window, pair.claims[0], pair.question, pair.evidence if support.window != pair.evidence else "")
        for support, pair in zip(read, statements, strict=True)
    ]
    network_scores = network.score(windows)
    sources = Counter(str(pair["source"]) for pair in pairs)
    expected, other, right, weights = [], [], [], []
    for pair, read_support, theirs in zip(pairs, read, network_scores, strict=True):
        if read_support.support:  # 0: no window has it. sigmoid(log x) is x / (1 + x)
            expected.append(max(read_support.support / (1 - read_support.support) - _TINY, 0.0))
            other.append(logit(theirs))
            right.append(bool(pair["supported"]))
            weights.append(1 / sources[str(pair["source"])])
    for floor in floors:
        logs = [math.log(e + floor) for e in expected]
        for columns in ([logs], [logs, other]):
            slopes, intercept = fit_logistic(columns, right, weights)
            chance = 1 / (1 + np.exp(-(np.array(slopes) @ np.array(columns) + intercept)))
            loss = -np.average(np.log(np.where(right, chance, 1 - chance)), weights=weights)
            print(
                f"floor {floor:g}: slope {slopes[0]:.4f}, network {sum(slopes[1:]):.4f}, intercept {intercept:.4f}, "
                f"loss {loss:.4f} ({len(logs)})"
            )
    print(f"network: {network.name}")


if __name__ == "__main__":
    main()
