"""Recall of each retriever on the sample questions: python -m benchmarks.retrieval_samples.

It indexes the sample corpus in a temporary folder and uses the answerable questions. hit@k: whether the documents of
the k best chunks include a relevant document. recall@k: the share of the relevant documents that they include. Time is
bound by the encoder, with one forward pass per question. The last line is JSON.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import perf_counter

from app.pipeline import Pipeline
from app.settings import Settings
from data.loaders import load_documents, load_question_files
from data.samples_paths import sample_corpus_path, sample_question_paths
from retrieval.retriever import Fusion, Mode

DEPTHS = (1, 5, 10)
WAYS: tuple[tuple[str, Mode, Fusion], ...] = (
    ("bm25", "bm25", "minmax"),
    ("dense", "dense", "minmax"),
    ("min-max", "hybrid", "minmax"),
    ("RRF", "hybrid", "rrf"),
)


def main() -> None:
    questions = [q for q in load_question_files(sample_question_paths()) if q.answerable]
    rows = []
    with tempfile.TemporaryDirectory() as home, Pipeline(Settings(home=Path(home))) as pipeline:
        started = perf_counter()
        report = pipeline.index("samples", load_documents([sample_corpus_path()]))
        print(f"{report.documents} documents, {report.chunks} chunks in {perf_counter() - started:.1f} s")
        retriever = pipeline.retriever("samples")
        for name, mode, fusion in WAYS:
            started = perf_counter()
            results = retriever.retrieve_many([q.text for q in questions], max(DEPTHS), mode, fusion)
            seconds = (perf_counter() - started) / len(questions)
            row: dict[str, float | str] = {"retriever": name, "ms_per_question": round(1000 * seconds, 2)}
            for k in DEPTHS:
                shares = []
                for question, chunks in zip(questions, results, strict=True):
                    seen = {c.chunk.document_id for c in chunks[:k]}
                    relevant = set(question.relevant_document_ids)
                    shares.append(len(seen & relevant) / len(relevant))
                row[f"hit@{k}"] = round(sum(s > 0 for s in shares) / len(shares), 3)
                row[f"recall@{k}"] = round(sum(shares) / len(shares), 3)
            rows.append(row)
            print(row)
    print(json.dumps({"questions": len(questions), "rows": rows}))


if __name__ == "__main__":
    main()
