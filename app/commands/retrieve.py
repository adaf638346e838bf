"""Search a collection and show the results with their ranks, or measure the search on judged questions.

``plumbline retrieve "QUERY" --collection NAME`` shows rank, score, the ranks of both retrievers, document, location and
text. With --queries, --qrels or both instead of a query, it prints measures with 95 % intervals and the worst
questions.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, UsageError
from data.blank import is_blank

if TYPE_CHECKING:
    from app.pipeline import Pipeline
    from app.retrieval.tune import RetrievalEvaluation
    from retrieval.chunking.chunks import RetrievedChunk
    from retrieval.retriever import Retriever
    from retrieval.search import Search


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_collection, add_model
    from app.commands.search_options import add_fusion, add_options

    parser.add_argument("query", nargs="?", help="what to search for, in quotes")
    add_collection(parser, "collection to search")
    parser.add_argument("-k", "--k", type=int, default=10, help="number of chunks to show (default 10)")
    parser.add_argument(
        "--width", type=int, default=240, metavar="N", help="characters of text to show (default 240; 0: all)"
    )
    add_fusion(parser)
    add_options(parser)
    batch = parser.add_argument_group("measuring")
    batch.add_argument("--queries", type=Path, metavar="FILE", help="questions: JSON Lines with id and text")
    batch.add_argument(
        "--qrels",
        type=Path,
        metavar="FILE",
        help="relevance judgements in TREC or BEIR format (default: those in the questions)",
    )
    batch.add_argument(
        "--measure", action="append", default=[], metavar="M", help="measure, by its ir_measures name; repeatable"
    )
    batch.add_argument(
        "--worst", type=int, default=10, metavar="N", help="number of worst questions to list (default 10)"
    )
    batch.add_argument("--run-file", type=Path, metavar="OUT", help="write the results as a TREC run")
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Search and print the results or the measures."""
    from app.commands.options import checked_k, open_pipeline
    from app.commands.search_options import search

    batch = arguments.queries is not None or arguments.qrels is not None
    if batch == (arguments.query is not None):
        raise UsageError("give either a query, or --queries and/or --qrels")
    if not batch and (arguments.run_file or arguments.measure):
        raise UsageError("--run-file and --measure need --queries or --qrels")
    if not batch and is_blank(arguments.query):
        raise UsageError("the query is empty: ask something")
    if arguments.worst < 0 or arguments.width < 0:
        raise UsageError("--worst and --width must not be negative")
    k = checked_k(arguments)
    with open_pipeline(arguments) as pipeline:
        name = pipeline.collection_name(arguments.collection)
        searched = search(arguments, pipeline, name)
        if batch:
            return _measure(arguments, output, pipeline.retriever(name), searched)
        return _show(arguments, output, pipeline, name, searched, k)


def _show(
    arguments: argparse.Namespace, output: Output, pipeline: Pipeline, name: str, searched: Search, k: int
) -> int:
    from app.retrieval.chunk_locations import chunk_locations

    retriever = pipeline.retriever(name)
    results = searched.retrieve(arguments.query, k)
    locations = chunk_locations(pipeline.store, name, [item.chunk for item in results])
    if output.as_json:
        output.json(
            {
                "query": arguments.query,
                "collection": name,
                "generation": retriever.generation_hash,
                "settings": searched.settings,
                "results": [{**result_fields(item), "place": locations[item.chunk.id]} for item in results],
            }
        )
    else:
        for item in results:
            output.data(_heading(item, locations[item.chunk.id]))
            output.data(f"     {_text(item.chunk.text, arguments.width)}")
    for note in _notes(arguments.query, results, searched, retriever):
        output.info(note)
    return EXIT_OK


def result_fields(item: RetrievedChunk) -> dict[str, Any]:
    """Return a retrieved chunk as JSON values."""
    return {
        "rank": item.rank,
        "score": item.score,
        "dense_rank": item.dense_rank,
        "dense_score": item.dense_score,
        "sparse_rank": item.sparse_rank,
        "sparse_score": item.sparse_score,
        "document_id": item.chunk.document_id,
        "title": item.chunk.title,
        "start": item.chunk.start,
        "end": item.chunk.end,
        "text": item.chunk.text,
    }


def _heading(item: RetrievedChunk, location: str) -> str:
    ranks = [
        f"{name} {rank if rank is not None else '-'}"
        for name, rank in (("dense", item.dense_rank), ("sparse", item.sparse_rank))
    ]
    span = f"{item.chunk.document_id} {item.chunk.start}-{item.chunk.end}" + (f" ({location})" if location else "")
    title = f"  {item.chunk.title}" if item.chunk.title else ""
    return f"{item.rank:3}. {item.score:.4f}  {ranks[0]}, {ranks[1]}  {span}{title}"


def _text(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if not width or len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"


def _notes(query: str, results: tuple[RetrievedChunk, ...], searched: Search, retriever: Retriever) -> list[str]:
    """Return notes that explain an empty result, or a result of only one retriever."""
    notes = []
    params = searched.params
    if params.mode != "dense" and not retriever.words(query):
        notes.append("the query has only stop words or punctuation: keyword search was skipped")
    if not results and params.filters:
        for one in params.filters:
            if not retriever.filters.allowed((one,)).any():
                notes.append(f"no document passes the filter {retriever.filters.described(one)}")
        if not notes:
            notes.append(f"no result passes {', '.join(map(str, params.filters))}")
    elif not results:
        notes.append("nothing was found")
    return notes


def _measure(arguments: argparse.Namespace, output: Output, retriever: Retriever, searched: Search) -> int:
    from app.retrieval.tune import evaluate_run, evaluation_to_json, load_judged, load_queries, run_search
    from data.atomic_write import atomic_write
    from evaluation.retrieval.measures import DEFAULT_MEASURES, parsed_measure
    from evaluation.retrieval.own_documents import OwnDocuments, own_documents
    from evaluation.retrieval.rankings import write_run

    measures = arguments.measure or list(DEFAULT_MEASURES)
    for measure in measures:
        parsed_measure(measure)
    export_only = arguments.run_file is not None and arguments.qrels is None and not arguments.measure
    questions = load_queries(arguments.queries, arguments.qrels)
    if export_only and not any(question.relevant_document_ids for question in questions):
        judged = None
    else:
        judged = load_judged(retriever, arguments.queries, arguments.qrels)
        questions = judged.questions
    own = own_documents(questions, None, retriever.chunks) if judged is None else OwnDocuments(judged.own)
    with output.progress() as bar:
        rankings = run_search(searched, questions, lambda done, total: bar.update("questions", done, total), own.ids)
    if arguments.run_file is not None:
        with atomic_write(arguments.run_file) as part:
            lines = write_run(part, rankings, "plumbline")
        output.info(f"wrote {lines} lines of {len(rankings)} questions to {arguments.run_file}")
    if judged is None:
        for note in own.notes:
            output.info(note)
        output.info("the questions name no relevant documents and there is no --qrels: nothing to measure")
        return EXIT_OK
    result = evaluate_run(judged, rankings, measures, arguments.worst)
    for note in judged.notes:
        output.info(note)
    if output.as_json:
        output.json(evaluation_to_json(result, searched.settings, retriever.generation_hash))
    else:
        _print(result, searched.settings, output)
    return EXIT_OK


def _print(result: RetrievalEvaluation, settings: str, output: Output) -> None:
    output.data(f"{len(result.judged.questions)} questions, {settings}; 95 % intervals by question")
    for name, mean in result.means.items():
        limits = f"[{mean.lower:.4f}, {mean.upper:.4f}]" if mean.lower is not None else "[constant]"
        output.data(f"  {name:12} {mean.mean:.4f} {limits}")
    if result.worst:
        output.data(f"worst by {next(iter(result.values))}:")
    for failure in result.worst:
        rank = f"first relevant at {failure.first_relevant}" if failure.first_relevant else "no relevant document found"
        first = f"found {failure.found_first}" if failure.found_first else "found nothing"
        text = _text(failure.question.text, 80)
        output.data(f"  {failure.value:.3f} {failure.question.id} ({rank} of {failure.relevant}; {first}): {text}")
