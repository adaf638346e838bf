"""Ask one question, and print the answer with its citations and sources."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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
    add_sampling(parser, temperature=0.0, n=1)
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Answer and print."""
    from app.answers import QueryRequest
    from app.commands.options import checked_k, pipeline, sampling
    from app.retrieval_places import places_of

    if not arguments.question.strip():
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
    with pipeline(arguments) as line:
        result = line.answer(request)
        places = places_of(line.store, result.collection or "", result.sources)
    if output.as_json:
        content = result.to_json()
        for source, place in zip(content["sources"], places, strict=True):
            source["place"] = place
        output.json(content)
        return EXIT_OK
    show(result, output, places)
    return EXIT_OK


def show(result: QueryResult, output: Output, places: Sequence[str] = ()) -> None:
    """Print the answers, then what was retrieved; a star marks what was cited. places: of the sources, in words."""
    for answer in result.answers:
        output.data(answer.text)
    cited = {citation.number for answer in result.answers for citation in answer.completion.citations}
    if result.sources:
        output.data("")
    for source, place in zip(result.sources, places or [""] * len(result.sources), strict=True):
        mark = "*" if source.number in cited else " "
        label = f"[{source.number}]" if source.number is not None else "[-]"
        where = f"{source.document_id} {source.start}-{source.end}" + (f" ({place})" if place else "")
        output.data(f"{mark}{label} {where}  {_first_words(source.text)}")
    if any(source.number is None for source in result.sources):
        output.say("[-]: retrieved, but did not fit the model's context")


def _first_words(text: str, width: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"
