"""Measure how often the model hallucinates: with retrieval and without, on the same questions.

Questions are a .jsonl file of {"id", "text", "references", "relevant_document_ids", "answerable"} or a BEIR folder;
"samples" stands for the questions shipped with Plumbline. A question with references is judged by them, one without by
whether a trusted collection entails what the answer says. Every sample is committed; the same command goes on where an
interrupted one stopped, and a finished one is only reported.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.fail_if import add_fail_if
    from app.commands.options import add_model, add_retrieval, add_sampling

    parser.add_argument("questions", nargs="+", metavar="QUESTIONS", help='question files, or "samples"')
    parser.add_argument(
        "--collection", metavar="NAME", help="which documents rag and oracle read; default the only one"
    )
    parser.add_argument("--arms", default="closed_book,rag,oracle", help="comma-separated (default all three)")
    parser.add_argument("--limit", type=int, default=None, help="only the first N questions")
    parser.add_argument("--name", default="", help="what the report is called")
    parser.add_argument("--report", type=Path, default=None, help="where the HTML report goes (default home/reports)")
    parser.add_argument("--retry-failed", action="store_true", help="draw samples again that a failure left unscored")
    add_judging(parser)
    add_fail_if(parser)
    add_retrieval(parser)
    add_sampling(parser, temperature=0.7, n=3)
    add_model(parser)


def add_judging(parser: argparse.ArgumentParser) -> None:
    """--verifier, --verifier-model, --trusted, --threshold."""
    group = parser.add_argument_group("judging")
    group.add_argument(
        "--verifier",
        choices=("auto", "reference", "entailment"),
        default="auto",
        help="what judges answers (default auto: reference answers where a question has some, else entailment)",
    )
    group.add_argument("--verifier-model", type=Path, default=None, help="entailment model's folder; default embedded")
    group.add_argument(
        "--trusted",
        metavar="NAME",
        default=None,
        help="collection whose documents count as truth (default: --collection)",
    )
    group.add_argument(
        "--threshold", type=float, default=0.5, help="support from which a claim counts as supported (default 0.5)"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the experiment, print the tables, write the report."""
    from app.commands.options import pipeline

    command = shlex.join(["plumbline", *sys.argv[1:]])
    with pipeline(arguments) as line:
        return evaluate_and_report(arguments, output, line, command)


def evaluate_and_report(arguments: argparse.Namespace, output: Output, line: Any, command: str) -> int:
    """The command on a pipeline that is already open (the demo's last step)."""
    from app.commands.fail_if import checked_gate
    from app.commands.options import checked_k, sampling
    from app.commands.report import report_run
    from app.judging import VerifierPlan
    from app.runs import EvaluationPlan, evaluate, judge_of
    from data.loaders import load_question_files
    from data.samples_paths import sample_question_paths
    from evaluation.runs.experiment import Progress
    from evaluation.runs.run_config import Decoding

    params = sampling(arguments)
    k = checked_k(arguments)
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError(f"--limit is {arguments.limit}: at least one question must be asked")
    if not 0.0 < arguments.threshold <= 1.0:
        raise UsageError(f"--threshold is {arguments.threshold}: it must be above 0 and at most 1")
    paths: list[Path] = []
    for name in arguments.questions:
        paths.extend(sample_question_paths() if name == "samples" else [Path(name)])
    plan = EvaluationPlan(
        questions=load_question_files(paths)[: arguments.limit],
        arms=tuple(arm.strip() for arm in arguments.arms.split(",")),
        collection=arguments.collection,
        samples=params.n,
        k=k,
        mode=arguments.mode,
        fusion=arguments.fusion,
        decoding=Decoding(
            params.temperature,
            params.top_k,
            params.top_p,
            params.max_tokens,
            params.stop,
            params.min_p,
            params.repetition_penalty,
        ),
        seed=params.seed,
        judging=VerifierPlan(arguments.verifier, arguments.verifier_model, arguments.trusted, arguments.threshold),
    )
    gate = checked_gate(getattr(arguments, "fail_if", None), plan.arms)
    judge = judge_of(line, plan)
    with output.progress() as bar:

        def say(progress: Progress) -> None:
            bar.update("samples", progress.done, progress.total)

        result = evaluate(
            line,
            plan,
            name=arguments.name,
            command=command,
            judge=judge,
            progress=say,
            retry_failed=arguments.retry_failed,
        )
    if result.resumed:
        output.say(f"{result.resumed} of {result.total} samples were already committed")
    shown = report_run(line, result.run_id, arguments.report, output, judge.entailment, gate)
    if shown.failed:
        return EXIT_THRESHOLD
    return EXIT_PARTIAL if shown.unscored else EXIT_OK
