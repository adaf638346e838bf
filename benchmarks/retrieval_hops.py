"""Benefit of a second search for answers in several passages: python -m benchmarks.retrieval_hops [HOME].

It uses our sample questions over the sample corpus: those whose answer needs two articles or a list ("two": several
spans), and those with one span ("one"). The score of a question is the share of its spans that are complete in one of
the first 4 or 8 chunks. The second search needs no decoder that writes. Its query is the question with the title of the
best chunk, or with the words that the shipped reader copies from the first four chunks. Each variant is compared with
one search of equal length by a sign-flip test, adjusted by Holm over rows of the same questions and length. With few
questions, only large effects are detectable. Time is bound by the encoder. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.pipeline import Pipeline
from app.settings import Settings
from benchmarks.retrieval_options import Pointing
from data.loaders import load_documents, load_question_files
from data.questions import Question
from data.samples_paths import sample_corpus_path, sample_question_paths
from evaluation.retrieval.comparison import Resampling, compare
from evaluation.statistics.counts import Floats
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.ranking.diversity import MmrParams
from retrieval.reformulation.hops import by_best_title
from retrieval.reformulation.rm3 import Rm3Params
from retrieval.retrieval_params import RetrievalParams
from retrieval.search import Search, SearchComponents

SHOWN = (4, 8)


def share_found(question: Question, chunks: Sequence[RetrievedChunk]) -> float:
    """Return the share of the question's spans that are complete in one of the chunks."""
    found_spans = [
        any(
            c.chunk.document_id == span.document_id and c.chunk.start <= span.start and span.end <= c.chunk.end
            for c in chunks
        )
        for span in question.evidence
    ]
    return sum(found_spans) / len(found_spans)


def searches(plain: Search, pipeline: Pipeline) -> dict[str, Search]:
    pointing = Pointing(pipeline, plain)

    def by_words(question: str, _found: Sequence[RetrievedChunk]) -> str | None:
        return next(iter(pointing(question)), None)

    base = RetrievalParams()
    given = {
        "one search": (base, SearchComponents()),
        "two hops by title": (base, SearchComponents(ask_again=by_best_title)),
        "two hops by the reader's words": (base, SearchComponents(ask_again=by_words)),
        "imagined: the reader's words": (base, SearchComponents(imagine=pointing)),
        "RM3": (replace(base, rm3=Rm3Params()), SearchComponents()),
        "MMR 0.7": (replace(base, mmr=MmrParams(0.7)), SearchComponents()),
    }
    return {name: Search(plain.retriever, params, helpers) for name, (params, helpers) in given.items()}


def rows_of(name: str, questions: Sequence[Question], ways: dict[str, Search]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for k in SHOWN:
        values: dict[str, Floats] = {}
        for way, search in ways.items():
            hits = search.retrieve_many([q.text for q in questions], k)
            values[way] = np.asarray([share_found(q, c) for q, c in zip(questions, hits, strict=True)])
        base = values["one search"]
        tests = compare(base, {n: v for n, v in values.items() if n != "one search"}, Resampling())
        for way, shares in values.items():
            row: dict[str, object] = {"questions": name, "n": len(questions), "k": k, "way": way}
            row["mean"] = round(float(shares.mean()), 4)
            if test := tests.get(way):
                row |= {"gain": round(test.difference.mean, 4), "better": test.better, "worse": test.worse}
                row["p_holm"] = round(test.p_holm, 4)
            rows.append(row)
            print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, nargs="?", default=None, help="folder for the index (default a temporary)")
    arguments = parser.parse_args()
    questions = [q for q in load_question_files(sample_question_paths()) if q.answerable and q.evidence]
    with (
        tempfile.TemporaryDirectory() as name,
        Pipeline(Settings(home=arguments.home or Path(name), database="", encoder="", model="")) as pipeline,
    ):
        pipeline.index("samples", load_documents([sample_corpus_path()]))
        ways = searches(pipeline.search("samples"), pipeline)
        rows = rows_of("two", [q for q in questions if len(q.evidence) > 1], ways)
        rows += rows_of("one", [q for q in questions if len(q.evidence) == 1], ways)
    print(json.dumps({"benchmark": "retrieval_hops", "rows": rows}))


if __name__ == "__main__":
    main()
