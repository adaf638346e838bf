"""Ask one question, and print the answer with its citations and sources.

With --policy a verifier checks the answer. Depending on the policy, unsupported parts are marked or removed, the best
of several samples is chosen, the search is repeated, or no answer is given. --max-hallucination-rate answers only with
a certificate (docs/policies.md).
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.answering.answer_parts import Answer
    from app.answering.policy_json import PolicyResult
    from app.answers import QueryRequest, QueryResult
    from app.pipeline import Pipeline
    from app.policies.policy_request import PolicyRequest
    from generation.completion import TextDelta

CUT = " […]"
"""Appended to an answer that was cut off."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.choices import STYLES
    from app.commands.options import add_collection, add_model, add_retrieval, add_sampling
    from app.commands.policy_options import add_policies

    parser.add_argument("question", help="question, in quotes")
    add_collection(parser, "collection to search")
    parser.add_argument("--no-retrieval", action="store_true", help="answer without retrieval")
    parser.add_argument(
        "--style",
        choices=STYLES,
        default="short",
        help="style of the answer; sentence: turn short answers into full sentences",
    )
    parser.add_argument(
        "--logprobs",
        type=int,
        default=0,
        metavar="N",
        help="with --json: print every token's log-probability and its N most likely alternatives (up to 20)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="also judge every claim of the answer by the documents (loads the verifier)",
    )
    add_policies(parser)
    add_retrieval(parser)
    add_sampling(parser)
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Answer the question and print the answer."""
    from app.answers import QueryRequest
    from app.commands.options import checked_k, open_pipeline, sampling
    from app.commands.policy_options import policy_request
    from data.blank import is_blank

    if is_blank(arguments.question):
        raise UsageError("the question is empty")
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
    policies = policy_request(arguments)
    # A policy may remove text later, so nothing is streamed with one.
    live = sys.stdout.isatty() and not output.as_json and request.params.n == 1 and not policies.asked
    streamed = Streamed(output) if live else None
    with open_pipeline(arguments) as pipeline:
        if arguments.verify:
            pipeline.collection_name(arguments.collection)  # Checked before a model is loaded.
        if policies.asked:
            result = _with_policies(pipeline, request, policies)
        else:
            result = pipeline.answer(request, on_text=streamed.write if streamed else None)
        if streamed:
            streamed.end(cut=any(map(is_cut, result.answers)))
        if arguments.verify:
            from app.judging.answer_verification import verified

            result = verified(pipeline, result, arguments.collection)
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
        """End the line, if one was started. cut: whether the answer was cut off."""
        if self.written:
            self._output.piece(f"{CUT if cut else ''}\n")


def _with_policies(pipeline: Pipeline, request: QueryRequest, policies: PolicyRequest) -> QueryResult:
    from app.policies.answering import answer_with_policy
    from evaluation.policies.plan import PolicyError

    try:
        return answer_with_policy(pipeline, request, policies)
    except PolicyError as error:
        raise UsageError(str(error)) from error


def show(result: QueryResult, output: Output, *, texts: bool = True) -> None:
    """Print the answers, the results of verifier and policies, and the retrieved sources. A star marks a cited source.

    texts: whether to print the answers; False if they were streamed.
    """
    for answer in result.answers:
        if texts:
            output.data(answer.text + (CUT if is_cut(answer) else ""))
        if answer.evaluation is not None:
            _show_verdicts(answer, output)
    if result.policy is not None:
        _show_policy(result.policy, output)
    _show_sources(result, output)
    if any(map(is_cut, result.answers)):
        most = result.request.params.max_tokens
        unit = "token" if most == 1 else "tokens"
        output.info(f"{CUT.strip()}: cut after {most} {unit}; --max-tokens N allows longer answers")


def is_cut(answer: Answer) -> bool:
    """Return whether the answer ended because it reached the token limit."""
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
        output.info("[-]: retrieved, but did not fit into the model's context")


def _show_policy(policy: PolicyResult, output: Output) -> None:
    """Print what the policies marked, removed and withheld, and their cost."""
    from app.answering.policy_json import policy_json

    shown = policy_json(policy)
    many = len(shown["answers"]) > 1
    output.data("")
    for number, answer in enumerate(shown["answers"], start=1):
        which = f"answer {number}: " if many else ""
        for span in answer["flagged"]:
            support = f"not scored: {span['reason']}" if span["support"] is None else f"support {span['support']:.3f}"
            output.data(
                f"{which}unsupported at {span['start']}-{span['end']} ({support}): {_first_words(span['text'])}"
            )
        for one in answer["removed"]:
            output.data(f"{which}removed by {one['policy']} ({one['reason']}): {_first_words(one['text'])}")
        if answer["reason"] and not answer["removed"]:
            output.data(f"{which}withheld: {answer['reason']}")
    for number, one in enumerate(shown["rounds"], start=1):
        score = "no score" if one["score"] is None else f"score {one['score']:.3f}"
        output.data(f"round {number}: {'kept' if one['kept'] else 'rejected'}, {score}: {_first_words(one['text'])}")
    for note in shown["notes"]:
        output.data(note)
    certificate = shown["certificate"]
    if certificate is not None:
        output.data(
            f"certificate {certificate['id']}: at most a share of {certificate['alpha']:g} of the answers is "
            f"hallucinated, with probability at least {1 - certificate['delta']:g}; "
            f"{100 * certificate['answer_rate']:.0f} % of the questions of its calibration were answered"
        )
    score = shown["answers"][0]["score"]
    cost = shown["cost"]
    threshold = "" if shown["threshold"] is None else f"threshold {shown['threshold']:g}, "
    scored = "" if many or score is None else f"score {score:.3f}, "
    output.data(
        f"policy {','.join(shown['ran'])}: {scored}{threshold}{cost['seconds']:.2f} s, "
        f"{cost['prompt_tokens']} + {cost['completion_tokens']} tokens"
    )


def _first_words(text: str, width: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"
