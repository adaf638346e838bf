"""Ask one question, and print the answer with its citations and sources."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.answers import Answer, QueryResult
    from generation.completion import TextDelta

CUT = " […]"
"""Marks a truncated answer."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.choices import STYLES
    from app.commands.options import add_collection, add_model, add_retrieval, add_sampling

    parser.add_argument("question", help="the question, in quotes")
    add_collection(parser, "documents to answer from")
    parser.add_argument("--no-retrieval", action="store_true", help="query the model without passages")
    parser.add_argument("--style", choices=STYLES, default="short", help="sentence: short answers as full sentences")
    parser.add_argument(
        "--logprobs",
        type=int,
        default=0,
        metavar="N",
        help="with --json: the log-probability of every token and its N most likely alternatives (up to 20)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="also verify every claim of the answer against the documents (loads the verifier)",
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
    streamed = Streamed(output) if sys.stdout.isatty() and not output.as_json and request.params.n == 1 else None
    with open_pipeline(arguments) as opened:
        if arguments.verify:
            # before a model is loaded: without a collection there is no evidence
            opened.collection_name(arguments.collection)
        result = opened.answer(request, on_text=streamed.write if streamed else None)
        if streamed:
            streamed.end(cut=any(map(is_cut, result.answers)))
        if arguments.verify:
            from app.answer_verification import verified

            result = verified(opened, result, arguments.collection)
    if output.as_json:
        output.json(result.to_json())
        return EXIT_OK
    show(result, output, texts=streamed is None or not streamed.written)
    return EXIT_OK


class Streamed:
    """Writes an answer to the terminal while it is generated."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.written = False

    def write(self, delta: TextDelta) -> None:
        """Write the next piece of text."""
        self.written = True
        self._output.piece(delta.text)

    def end(self, *, cut: bool) -> None:
        """End the current line, if it has text. cut: whether the answer was truncated."""
        if self.written:
            self._output.piece(f"{CUT if cut else ''}\n")


def show(result: QueryResult, output: Output, *, texts: bool = True) -> None:
    """Print the answers, their verdicts, then the retrieved chunks; a star marks cited ones.

    texts: whether to print the answers; false if they were streamed.
    """
    for answer in result.answers:
        if texts:
            output.data(answer.text + (CUT if is_cut(answer) else ""))
        if answer.evaluation is not None:
            _show_verdicts(answer, output)
    _show_sources(result, output)
    if any(map(is_cut, result.answers)):
        most = result.request.params.max_tokens
        unit = "token" if most == 1 else "tokens"
        output.say(f"{CUT.strip()}: truncated after {most} {unit}; --max-tokens N allows a longer answer")


def is_cut(answer: Answer) -> bool:
    """Whether the answer ended at the token limit."""
    return answer.completion.finish_reason == "length"


def _show_verdicts(answer: Answer, output: Output) -> None:
    from app.commands.verify import verdict_lines

    evaluation = answer.evaluation
    if evaluation is None:
        return
    output.data(f"verdict: {evaluation.outcome}" + (f" ({evaluation.reason})" if evaluation.reason else ""))
    for verdict in evaluation.verdicts:
        for line in verdict_lines(verdict, alone=False):
            output.data(line)


def _show_sources(result: QueryResult, output: Output) -> None:
    cited = {citation.number for answer in result.answers for citation in answer.completion.citations}
    if result.sources:
        output.data("")
    for source in result.sources:
        mark = "*" if source.number in cited else " "
        label = f"[{source.number}]" if source.number is not None else "[-]"
        where = f"{source.document_id} {source.start}-{source.end}" + (f" ({source.place})" if source.place else "")
        output.data(f"{mark}{label} {where}  {_first_words(source.text)}")
    if any(source.number is None for source in result.sources):
        output.say("[-]: retrieved, but did not fit into the model's context")


def _first_words(text: str, width: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"
