"""Update a collection to hold exactly the documents of the given sources.

SOURCE is a folder, a file, a BEIR folder, "samples" (the documents shipped with Plumbline), or "sql:URL SELECT id,
title, text FROM ..."; docs/formats.md lists the file formats. Documents that are no longer in the sources are listed,
and removed when the new index is published. Documents that were uploaded to the service are kept, unless --replace is
given. Unchanged documents are not embedded again. The same command continues an interrupted one. --watch keeps running
and indexes again when the sources change.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, USER_ERRORS, UsageError

if TYPE_CHECKING:
    from data.documents import Document
    from data.refused import Refused, RefusedGroup
    from data.sources import Source
    from retrieval.chunking.chunker import ChunkingParams
    from retrieval.indexing.indexer import JobParams
    from retrieval.indexing.report import IndexReport
    from retrieval.sparse.tokenising import TokenisingParams
    from retrieval.vectors.params import DenseParams

_SHOWN_EACH = 5
_SHOWN = 20
_ENGINES = ("local", "pgvector", "milvus")
_INDEXES = ("auto", "flat", "hnsw", "ivf", "sq8", "hnsw-sq8", "ivf-sq8")

_OVERLAPS = ("overlap_sentences", "overlap_tokens")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.engine_options import add_engine
    from app.commands.options import add_encoder, add_limit

    parser.add_argument("sources", nargs="+", metavar="SOURCE", help='folders or files to index, "samples", or sql:...')
    parser.add_argument(
        "--collection",
        required=True,
        metavar="NAME",
        help="name of the collection: letters, digits, dots, dashes and underscores",
    )
    add_limit(parser, "documents")
    parser.add_argument("--replace", action="store_true", help="also remove uploaded documents that are in no source")
    parser.add_argument("--watch", action="store_true", help="keep running, and index again when the sources change")
    parser.add_argument(
        "--follow-links", action="store_true", help="also follow symbolic links that point outside a given folder"
    )
    group = parser.add_argument_group("chunks")
    group.add_argument(
        "--chunking", choices=("sentences", "headings", "tokens"), default="sentences", help="where to split documents"
    )
    group.add_argument(
        "--chunk-tokens",
        type=int,
        default=110,
        metavar="N",
        help="maximum number of tokens (word pieces) in a chunk (default 110)",
    )
    group.add_argument(
        "--overlap-sentences",
        type=int,
        default=0,
        metavar="N",
        help="number of sentences repeated at the start of the next chunk (default 0)",
    )
    group.add_argument(
        "--overlap-tokens",
        type=int,
        default=0,
        metavar="N",
        help="maximum number of tokens repeated at the start of the next chunk, for --chunking tokens (default 0)",
    )
    group = parser.add_argument_group("keyword search")
    group.add_argument(
        "--language",
        metavar="NAME",
        help="stemming and stop words of the documents' language, such as german or none (default english). "
        "Chinese, Japanese, Korean (CJK) and Thai need no option: their characters are indexed in pairs",
    )
    group = parser.add_argument_group("work")
    group.add_argument(
        "--index",
        choices=_INDEXES,
        default="auto",
        help="vector index. auto (default): flat up to 100,000 chunks, HNSW above; ivf is built faster; sq8 stores one "
        "byte per dimension",
    )
    group.add_argument(
        "--vectors",
        choices=_ENGINES,
        default=None,
        help="where the index is stored: local (files in the home folder), pgvector (PostgreSQL, see "
        "PLUMBLINE_PGVECTOR_URL) or milvus (PLUMBLINE_MILVUS_URL). Default: where the collection's index already is; "
        "for a new collection PLUMBLINE_VECTORS or local",
    )
    group.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="number of processes for parsing, and for splitting (default 1)",
    )
    add_engine(parser)
    add_encoder(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Index the sources and print a summary."""
    import time

    from app.commands.engine_options import block_executor
    from app.commands.options import open_pipeline
    from app.retrieval.file_parsing import file_parsing
    from app.retrieval.index_progress import shown_progress
    from app.retrieval.uploads import UploadedSources
    from app.retrieval.watch import follow
    from data.loaders import iter_documents
    from data.samples_paths import sample_corpus_path
    from data.sources import parse_source

    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError(f"--limit is {arguments.limit}: it must be at least 1")
    chunking, dense, job = _params(arguments)
    tokenising = _tokenising(arguments.language)
    sources = [sample_corpus_path() if text == "samples" else parse_source(text) for text in arguments.sources]
    paths = _watched(sources) if arguments.watch else []
    with block_executor(arguments, output) as executor, open_pipeline(arguments) as pipeline:
        parse = file_parsing(executor)
        kept: tuple[str, ...] = ()

        def build() -> IndexReport:
            nonlocal kept
            source = iter_documents(
                sources, workers=max(1, arguments.workers), follow_links=arguments.follow_links, parse=parse
            )
            documents = _first(source, arguments.limit)
            uploads = UploadedSources(pipeline.store, arguments.collection)
            if not arguments.replace:
                documents = uploads.completed(documents)
            with shown_progress(output, time.monotonic) as show:
                report = pipeline.index(
                    arguments.collection,
                    documents,
                    chunking=chunking,
                    tokenising=tokenising,
                    dense=dense,
                    job=job,
                    progress=show,
                    in_subprocess=True,
                    vectors=arguments.vectors,
                    executor=executor,
                )
            uploads.mark_sourced()
            kept = uploads.kept
            return report

        if not arguments.watch:
            _show(build(), kept, output)
            return EXIT_OK

        def build_once() -> bool:
            try:
                report = build()
            except (*USER_ERRORS, OSError) as error:
                output.info(f"plumbline: error: {error}; the index is unchanged, still watching")
                return False
            if report.rebuilt:
                _show(report, kept, output)
            output.info(f"{report.collection} is up to date; watching {', '.join(map(str, paths))} (Ctrl-C stops)")
            return True

        follow(paths, build_once, time.monotonic, time.sleep)
    return EXIT_OK


def _params(arguments: argparse.Namespace) -> tuple[ChunkingParams, DenseParams, JobParams]:
    from retrieval.chunking.chunker import ChunkingParams
    from retrieval.indexing.indexer import JobParams
    from retrieval.vectors.params import DenseParams

    given: dict[str, Any] = {"max_tokens": arguments.chunk_tokens, "overlap_sentences": arguments.overlap_sentences}
    if arguments.chunking != "sentences":
        given["strategy"] = arguments.chunking
    if arguments.overlap_tokens:
        given["overlap_tokens"] = arguments.overlap_tokens
    try:
        chunking = ChunkingParams(**given)
    except ValueError as error:
        message = str(error)
        for field, flag in (("max_tokens", "--chunk-tokens"), *((n, f"--{n.replace('_', '-')}") for n in _OVERLAPS)):
            message = message.replace(field, flag)
        raise UsageError(f"invalid chunk settings: {message}") from error
    if arguments.workers < 0:
        raise UsageError(f"--workers is {arguments.workers}: it must be at least 0 (0: all work in this process)")
    kinds: dict[str, DenseParams] = {
        "auto": DenseParams(),
        "flat": DenseParams(kind="flat"),
        "hnsw": DenseParams(kind="hnsw"),
        "ivf": DenseParams(kind="ivf"),
        "sq8": DenseParams(kind="flat", quantisation="int8"),
        "hnsw-sq8": DenseParams(kind="hnsw", quantisation="int8"),
        "ivf-sq8": DenseParams(kind="ivf", quantisation="int8"),
    }
    return chunking, kinds[arguments.index], JobParams(workers=arguments.workers)


def _tokenising(language: str | None) -> TokenisingParams | None:
    from retrieval.sparse.tokenising import for_language

    if language is None:
        return None
    try:
        return replace(for_language(language.lower()), cjk="auto")
    except ValueError as error:
        raise UsageError(f"--language {language}: {error}") from error


def _watched(sources: list[Source]) -> list[Path]:
    """Return the paths of the sources. Raises UsageError for a source that cannot be watched."""
    paths = [source for source in sources if isinstance(source, Path)]
    if len(paths) < len(sources):
        raise UsageError(
            "--watch supports folders and files, not databases: run the command again when a table changes"
        )
    return paths


def _first(source: Iterator[Document | Refused], limit: int | None) -> Iterator[Document | Refused]:
    from itertools import islice

    # Closing the source ends the parser processes. islice does not close it.
    with closing(source) as opened:  # type: ignore[type-var]  # a generator, typed as an iterator, has close
        yield from islice(opened, limit)


def _show(report: IndexReport, kept: tuple[str, ...], output: Output) -> None:
    from data.refused import refusal_groups

    facts: dict[str, Any] = asdict(report) | {"kept_uploads": kept}
    facts["refused_count"] = report.refused_count
    if output.as_json:
        output.json(facts)
        return
    output.data(
        f"{report.collection}: {report.documents} documents, {report.chunks} chunks "
        f"({report.embedded} embedded, {report.reused} reused) in {report.seconds:.1f} s"
    )
    output.data(
        f"added {report.added}, changed {report.changed}, unchanged {report.unchanged}, removed {report.removed}, "
        f"refused {report.refused_count}"
    )
    if report.removed_ids:
        output.data(f"  removed {_names(report.removed_ids)}")
    if kept:
        output.data(f"  kept {_names(kept)}, which were uploaded (--replace removes them)")
    for group in refusal_groups((*report.refused, *report.notes), kept=_SHOWN_EACH):
        _show_group(group, output)
    recall = "" if report.recall is None else f", recall {report.recall:.3f} of exact search"
    where = "" if report.vectors == "local" else f" in {report.vectors}"
    output.data(f"vector index: {report.index}{where}{recall}")
    output.data(f"generation {report.generation_hash}{'' if report.rebuilt else ' (unchanged)'}")


def _show_group(group: RefusedGroup, output: Output) -> None:
    """Print one reason for refusals: a single line for one refusal, otherwise a heading and the first locations."""
    word = "note" if group.kind == "note" else "refused"
    if group.count == 1:
        output.data(f"  {word} {group.first[0].where}: {group.first[0].reason}")
        return
    unit = {"file": "files or folders", "part": "parts of files", "note": "locations"}[group.kind]
    output.data(f"  {word}, {group.count:,} {unit}: {group.reason}")
    for one in group.first:
        differs = one.count == 1 and one.reason != group.reason
        more = f" and {one.count - 1:,} more" if one.count > 1 else ""
        output.data(f"    {one.where}{more}{f': {one.reason}' if differs else ''}")
    rest = group.count - sum(one.count for one in group.first)
    if rest:
        output.data(f"    and {rest:,} more")


def _names(ids: tuple[str, ...]) -> str:
    from data.refused import printable

    shown = ", ".join(printable(name) for name in ids[:_SHOWN])
    return shown + (f" and {len(ids) - _SHOWN} more (--json lists all)" if len(ids) > _SHOWN else "")
