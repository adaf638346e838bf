"""Benefit of search options if one passage is relevant: python -m benchmarks.retrieval_options FILE HOME.

FILE is the reader's training file (train.jsonl.bz2), indexed as by the product (chunks of 110 tokens):

- QED (real searches, one Wikipedia paragraph each): nDCG@10 of every option, over the first --passages paragraphs;
- complete articles of SQuAD 2 in that file: whether the returned text contains the answer, for neighbours.

HOME keeps the indexes and may be used again. --questions is the number of questions drawn from each set without
replacement (seed 0); --slow-questions is the number of these for options that use a model. Intervals are BCa by
question. Each row is compared with the default by a sign-flip test, adjusted by Holm over rows of equal questions.

Reranking uses the shipped verifier, which was trained to judge claims, not to rank. Rewrites and imagined passages use
the shipped reader, which cannot write: the words that it copies from the first four chunks are appended to the
question. The reader was trained on QED. No decoder that writes was tested. Time is bound by the encoder. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import bz2
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from app.pipeline import Pipeline
from app.retrieval.tune import run_search
from app.settings import Settings
from data.documents import Document
from data.questions import Question
from evaluation.retrieval.comparison import Resampling, compare, estimate
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.measures import by_question
from evaluation.statistics.counts import Floats
from generation.decoding.params import SamplingParams
from model.verifier.scorer import load_support_scorer
from retrieval.ranking.diversity import MmrParams
from retrieval.ranking.reranking import RerankParams
from retrieval.reformulation.hops import by_best_title
from retrieval.reformulation.rm3 import Rm3Params
from retrieval.retrieval_params import RetrievalParams
from retrieval.search import Search, SearchComponents

MEASURE = "nDCG@10"
READ = 4
RERANKED = 20


@dataclass(frozen=True, slots=True)
class Set:
    """A collection with questions about it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    judgements: Judgements


@dataclass(frozen=True, slots=True)
class Way:
    """The options of a search. asks: whether it calls a model for every question."""

    name: str
    params: RetrievalParams
    helpers: SearchComponents
    asks: bool = False


def rows_of(path: Path, source: str) -> list[dict[str, str]]:
    with bz2.open(path, "rt", encoding="utf-8") as file:
        rows = (json.loads(line) for line in file)
        return [row for row in rows if row["source"] == source]


def qed(path: Path, passages: int | None) -> Set:
    rows = rows_of(path, "qed")
    ids = {text: f"p{number}" for number, text in enumerate(dict.fromkeys(row["context"] for row in rows))}
    ids = dict(islice(ids.items(), passages))
    rows = [row for row in rows if row["context"] in ids]
    titles = {row["context"]: row["title"] for row in rows}
    questions = tuple(Question(f"q{number}", row["question"]) for number, row in enumerate(rows))
    grades = {q.id: {ids[row["context"]]: 1} for q, row in zip(questions, rows, strict=True)}
    documents = tuple(Document(key, titles[text], text) for text, key in ids.items())
    return Set("qed", documents, questions, Judgements(grades, "qed"))


@dataclass(frozen=True, slots=True)
class Articles:
    """Complete articles with questions. spans: location of each question's answer, (document, start, end)."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    spans: dict[str, tuple[str, int, int]]


def articles(path: Path) -> Articles:
    indices: dict[str, dict[str, int]] = {}
    texts: dict[str, str] = {}
    questions, spans = [], {}
    for number, row in enumerate(rows_of(path, "squad2")):
        title, context = row["title"], row["context"]
        ids = indices.setdefault(title, {})
        if context not in ids:
            text = texts.get(title, "")
            ids[context] = len(text) + 2 if text else 0
            texts[title] = f"{text}\n\n{context}" if text else context
        answer = next(iter(row["answers"] or []), "")
        if row["answerable"] and answer in context:
            start = ids[context] + context.index(answer)
            questions.append(Question(f"s{number}", row["question"]))
            spans[f"s{number}"] = (title, start, start + len(answer))
    documents = tuple(Document(title, title, text) for title, text in texts.items())
    return Articles(documents, tuple(questions), spans)


class Pointing:
    """A function that appends to a question the words that the shipped reader copies from the first chunks.

    This is generation-augmented retrieval (Mao et al., ACL 2021) with copied instead of generated words.
    """

    name = "reader's words"

    def __init__(self, pipeline: Pipeline, plain: Search) -> None:
        self._pipeline, self._plain = pipeline, plain
        self._kept: dict[str, tuple[str, ...]] = {}

    def __call__(self, question: str) -> Sequence[str]:
        if question not in self._kept:
            generator = self._pipeline.generator
            prompt = generator.prompt(question, self._plain.retrieve(question, READ), 32)
            completion = generator.generate(prompt, SamplingParams(max_tokens=32), [0])[0]
            words = completion.text
            for citation in sorted(completion.citations, key=lambda c: -c.start):
                words = words[: citation.start] + words[citation.end :]
            words = " ".join(words.split())
            # An answer without a citation is a refusal.
            self._kept[question] = (f"{question} {words}",) if completion.citations and words else ()
        return self._kept[question]


def ways(plain: Search, pipeline: Pipeline) -> list[Way]:
    base, none = RetrievalParams(), SearchComponents()
    pointing = Pointing(pipeline, plain)
    scorer = SearchComponents(scorer=load_support_scorer())
    return [
        Way("default", base, none),
        Way("RM3", replace(base, rm3=Rm3Params()), none),
        Way("MMR 0.9", replace(base, mmr=MmrParams(0.9)), none),
        Way("MMR 0.7", replace(base, mmr=MmrParams(0.7)), none),
        Way("duplicates 0.9 left out", replace(base, deduplicate=0.9), none),
        Way("two hops by title", base, SearchComponents(ask_again=by_best_title)),
        Way(
            f"reranked by the verifier, {RERANKED} deep",
            replace(base, rerank=RerankParams(RERANKED)),
            scorer,
            asks=True,
        ),
        Way("rewritten by the reader's words", base, SearchComponents(rewrite=pointing), asks=True),
        Way("imagined: the reader's words", base, SearchComponents(imagine=pointing), asks=True),
    ]


def drawn(questions: Sequence[Question], most: int | None) -> tuple[Question, ...]:
    """Return a random sample, in the original order."""
    if most is None or most >= len(questions):
        return tuple(questions)
    indices = np.sort(np.random.default_rng(0).choice(len(questions), most, replace=False))
    return tuple(questions[index] for index in indices)


def measured(pipeline: Pipeline, what: Set, most: int | None, slow: int | None) -> list[dict[str, object]]:
    pipeline.index(what.name, what.documents)
    search = pipeline.search(what.name)
    questions = drawn(what.questions, most)
    few = drawn(questions, slow)
    values: dict[str, tuple[Way, Floats, float]] = {}
    for way in ways(search, pipeline):
        chosen = few if way.asks else questions
        started = perf_counter()
        run = run_search(Search(search.retriever, way.params, way.helpers), chosen, lambda _done, _total: None)
        seconds = (perf_counter() - started) / len(chosen)
        values[way.name] = (way, by_question(run, what.judgements, [q.id for q in chosen], MEASURE), seconds)
        print(
            f"{what.name}: {way.name}: {values[way.name][1].mean():.4f}, {1000 * seconds:.0f} ms per query", flush=True
        )
    ids = {question.id for question in few}
    part = np.asarray([question.id in ids for question in questions])
    return compared(what.name, values, part)


def compared(
    name: str, values: dict[str, tuple[Way, Floats, float]], part: NDArray[np.bool_]
) -> list[dict[str, object]]:
    """Return rows with paired differences. Options with a model are compared on their sample of the questions."""
    default = values["default"][1]
    quick = {n: v for n, (way, v, _) in values.items() if not way.asks and n != "default"}
    slow = {n: v for n, (way, v, _) in values.items() if way.asks}
    tests = compare(default, quick, Resampling()) | compare(default[part], slow, Resampling())
    rows: list[dict[str, object]] = []
    for key, (_, scores, seconds) in values.items():
        mean, test = estimate(scores, Resampling()), tests.get(key)
        row: dict[str, object] = {
            "set": name,
            "setting": key,
            "questions": mean.questions,
            "mean": round(mean.mean, 4),
            "ms": round(1000 * seconds),
        }
        if test is not None:
            gain = test.difference
            row |= {"gain": _rounded(gain.mean), "lower": _rounded(gain.lower), "upper": _rounded(gain.upper)}
            row |= {"p_holm": round(test.p_holm, 4)}
        rows.append(row)
    return rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def neighbours(pipeline: Pipeline, what: Articles, most: int | None) -> list[dict[str, object]]:
    """Return the share of questions whose answer is complete in one of the returned chunks."""
    pipeline.index("articles", what.documents)
    retriever = pipeline.search("articles").retriever
    questions = drawn(what.questions, most)
    shown: dict[str, tuple[Floats, float]] = {}
    for name, params, k in (
        ("k = 4", RetrievalParams(), 4),
        ("k = 4 and a neighbour on each side", RetrievalParams(neighbours=1), 4),
        ("k = 8", RetrievalParams(), 8),
        ("k = 12", RetrievalParams(), 12),
    ):
        results = Search(retriever, params).retrieve_many([q.text for q in questions], k)
        ids = [
            any(
                (c.chunk.document_id == what.spans[q.id][0])
                and (c.chunk.start <= what.spans[q.id][1])
                and (what.spans[q.id][2] <= c.chunk.end)
                for c in chunks
            )
            for q, chunks in zip(questions, results, strict=True)
        ]
        characters = float(np.mean([sum(len(c.chunk.text) for c in chunks) for chunks in results]))
        shown[name] = (np.asarray(ids, dtype=float), characters)
    base = shown["k = 4"][0]
    tests = compare(base, {n: v for n, (v, _) in shown.items() if n != "k = 4"}, Resampling())
    rows: list[dict[str, object]] = []
    for name, (values, characters) in shown.items():
        row: dict[str, object] = {"set": "squad2 articles", "setting": name, "questions": len(values)}
        row |= {"mean": _rounded(float(values.mean())), "characters": round(characters)}
        if test := tests.get(name):
            row |= {"gain": _rounded(test.difference.mean), "p_holm": round(test.p_holm, 4)}
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", type=Path, help="the reader's train.jsonl.bz2")
    parser.add_argument("home", type=Path, help="folder for the indexes")
    parser.add_argument("--passages", type=int, default=None, help="number of QED paragraphs (default all)")
    parser.add_argument("--questions", type=int, default=None, help="number of questions per set (default all)")
    parser.add_argument("--slow-questions", type=int, default=None, help="number of these for options that use a model")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    most, slow = arguments.questions, arguments.slow_questions
    parts: list[Callable[[Pipeline], list[dict[str, object]]]] = [
        lambda pipeline: neighbours(pipeline, articles(arguments.reader), most),
        lambda pipeline: measured(pipeline, qed(arguments.reader, arguments.passages), most, slow),
    ]
    with Pipeline(Settings(home=arguments.home, database="", encoder="", model="")) as pipeline:
        for part in parts:
            new_rows = part(pipeline)
            rows += new_rows
            for row in new_rows:
                print(row, flush=True)
    print(json.dumps({"benchmark": "retrieval_options", "rows": rows}))


if __name__ == "__main__":
    main()
