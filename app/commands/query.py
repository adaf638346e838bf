"""Ask one question, and print the answer with its citations and sources."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.answers import QueryResult


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model, add_retrieval, add_sampling

    parser.add_argument("question", help="the question, in quotes")
    parser.add_argument("--collection", metavar="NAME", help="which documents to answer from; default the only one")
    parser.add_argument("--no-retrieval", action="store_true", help="ask the model alone")
    parser.add_argument(
        "--style", choices=("short", "sentence"), default="short", help="sentence: short answers as full sentences"
    )
    parser.add_argument(
        "--logprobs",
        type=int,
        default=0,
        metavar="N",
        help="with --json: every token's log-probability and its N likeliest alternatives (up to 20)",
    )
    add_retrieval(parser)
    add_sampling(parser)
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Answer and print."""
    from app.answers import QueryRequest
    from app.commands.options import checked_k, open_pipeline, sampling
    from data.blank import is_blank

    if is_blank(arguments.question):
        raise UsageError("the question is empty: ask something")
    request = QueryRequest(
        question=arguments.question,
        collection=arguments.collection,
        retrieval=not arguments.no_retrieval,
        k=checked_k(arguments),
        mode=arguments.mode,
        fusion=arguments.fusion,
        style=arguments.style,
        params=sampling(arguments),
    )
    with open_pipeline(arguments) as pipeline:
        result = pipeline.answer(request)
    if output.as_json:
        output.json(result.to_json())
        return EXIT_OK
    show(result, output)
    return EXIT_OK


def show(result: QueryResult, output: Output) -> None:
    """Print the answers, then what was retrieved; a star marks what was cited."""
    for answer in result.answers:
        output.data(answer.text)
    cited = {citation.number for answer in result.answers for citation in answer.completion.citations}
    if result.sources:
        output.data("")
    for source in result.sources:
        mark = "*" if source.number in cited else " "
        label = f"[{source.number}]" if source.number is not None else "[-]"
        where = f"{source.document_id} {source.start}-{source.end}" + (f" ({source.place})" if source.place else "")
        output.data(f"{mark}{label} {where}  {_first_words(source.text)}")
    if any(source.number is None for source in result.sources):
        output.say("[-]: retrieved, but did not fit the model's context")


def _first_words(text: str, width: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"
