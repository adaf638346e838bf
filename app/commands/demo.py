"""Show all of it on the sample corpus: index, ask two questions, measure, report.

Everything happens in a folder of its own (--home, by default .demo), which may be deleted afterwards.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app.console import Output
from app.errors import EXIT_OK

ANSWERED = "How deep can the Heron 4 probe be used?"
NOT_ANSWERED = "How much does the Curlew 8 data logger weigh?"
_COLLECTION = "samples"


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model, add_retrieval, add_sampling

    parser.add_argument("--limit", type=int, default=None, help="evaluate only the first N sample questions")
    add_retrieval(parser)
    add_sampling(parser)
    add_model(parser)
    parser.set_defaults(
        questions=["samples"], collection=_COLLECTION, arms="closed_book,rag,oracle", report=None,
        retry_failed=False, verifier="auto", verifier_model=None, trusted=None, threshold=0.5,
        temperatures=None, top_ps=None, top_ks=None, signals=None, faithfulness=False,
        gold_evidence=False, forced_drift=False,
        name="Plumbline demo: the sample questions",
    )  # fmt: skip


def run(arguments: argparse.Namespace, output: Output) -> int:
    """The three commands a user would type, in one process."""
    from app.answers import QueryRequest
    from app.commands import evaluate, query
    from app.commands.options import checked_k, pipeline
    from data.loaders import load_documents
    from data.samples_paths import sample_corpus_path
    from generation.params import SamplingParams
    from retrieval.index_report import IndexProgress

    if arguments.home is None:
        arguments.home = Path(".demo")
    k = checked_k(arguments)
    with pipeline(arguments) as line:
        output.say("1. plumbline index: the sample corpus")
        with output.progress() as bar:

            def show(progress: IndexProgress) -> None:
                bar.update(progress.phase, progress.done, progress.total)

            report = line.index(_COLLECTION, load_documents([sample_corpus_path()]), progress=show)
        output.data(f"{report.documents} documents, {report.chunks} chunks, generation {report.generation_hash[:12]}")
        output.say("\n2. plumbline query: one question the corpus answers, one that it does not")
        for question in (ANSWERED, NOT_ANSWERED):
            result = line.answer(QueryRequest(question, _COLLECTION, k=k, params=SamplingParams(max_tokens=32)))
            output.data(f"\n{question}")
            query.show(result, output)
        output.say("\n3. plumbline evaluate: the sample questions, with retrieval and without")
        # A sample that could not be scored is in the table: it does not make the demo fail, as it would a gate.
        evaluate.evaluate_and_report(arguments, output, line, "plumbline demo")
    return EXIT_OK
