"""Measure how often the model hallucinates: with retrieval and without, on the same questions.

QUESTIONS is a file of {"id", "text", "references", "relevant_document_ids", "answerable"} (.jsonl, .json, .csv, .tsv or
Parquet), an Inspect log, a folder of datasets, a BEIR folder, or "samples" for the shipped questions. A question with
references is judged by them. Other questions are judged by whether a trusted collection entails the answer.

Every sample is committed. Run the same command again to continue an interrupted run. For a finished run it only prints
the report.

A .yaml file in place of QUESTIONS may hold all settings, named like the flags. Flags override it (docs/arms.md). --arms
names arms and their modifiers, such as closed_book,rag+distractors:3,oracle+position:each. --policies answers the
questions under several policies (docs/policies.md). --temperatures, --top-ps and --top-ks define a grid of decoding
settings for the same prompts.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

from app.commands.dry_run import show_dry_run
from app.commands.evaluation_options import add_grid, add_judging, plan_of
from app.commands.parser import rare
from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, UsageError

if TYPE_CHECKING:
    from app.judging.run_judge import Judge
    from app.runs.distributed import RunWorkers
    from app.runs.evaluate import EvaluationPlan


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.engine_options import add_engine
    from app.commands.fail_if import add_fail_if
    from app.commands.options import (
        add_analysis,
        add_answers_csv,
        add_collection,
        add_limit,
        add_model,
        add_report,
        add_retrieval,
        add_sampling,
    )
    from app.commands.policy_options import add_run_policies

    parser.add_argument("questions", nargs="+", metavar="QUESTIONS", help='question files, "samples", or CONFIG.yaml')
    add_collection(parser, "documents that the arms rag and oracle read")
    parser.add_argument(
        "--arms",
        default=None,
        help="arms, joined by commas (default closed_book,rag,oracle; for a reader, which needs passages, rag,oracle)",
    )
    add_run_policies(parser)
    add_limit(parser, "questions")
    parser.add_argument("--name", default="", help="name of the run, for plumbline report NAME")
    add_report(parser, "default in home/reports")
    add_answers_csv(parser)
    parser.add_argument(
        "--retry-failed", action="store_true", help="generate samples again that were unscored because of a failure"
    )
    parser.add_argument(
        "--forced-drift",
        action="store_true",
        help="also insert a false and a true first claim and compare the continuations (three more answers per sample)",
    )
    parser.add_argument("--dry-run", action="store_true", help="estimate tokens and time, without storing")
    add_judging(parser)
    add_fail_if(parser)
    add_retrieval(parser)
    add_sampling(parser)
    add_grid(parser)
    add_analysis(parser)
    add_model(parser, several=True)
    add_engine(parser)
    rare(parser, "--forced-drift", "--gold-evidence", "--signals", "--faithfulness", "--temperatures", "--top-ps")
    rare(parser, "--top-ks", "--retry-failed", "--policy-threshold", "--correct-rounds", "--correct-tokens")
    parser.set_defaults(reparse=parser.parse_args)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the experiment, print the tables and write the report."""
    from evaluation.policies.plan import PolicyError

    try:
        return _run(arguments, output)
    except PolicyError as error:
        raise UsageError(str(error), parameter=error.parameter) from error


def _run(arguments: argparse.Namespace, output: Output) -> int:
    from app.commands.options import check_writable, open_pipeline
    from app.config_file import is_config, with_config

    command = shlex.join(["plumbline", *sys.argv[1:]])
    if any(is_config(name) for name in arguments.questions):
        arguments = with_config(arguments, "questions")
        if not arguments.questions:
            raise UsageError("the settings file names no questions: add questions: [FILE, ...]")
    check_writable(arguments.answers_csv, "--answers-csv")
    if arguments.dry_run and arguments.engine == "ray":
        raise UsageError("--dry-run measures this machine: omit --engine ray")
    models = arguments.model or [None]
    if len(models) > 1:
        return _compare_models(arguments, models, output, command)
    arguments.model = models[0]
    with open_pipeline(arguments) as pipeline:
        if arguments.dry_run:
            return show_dry_run(arguments, plan_of(arguments), output, pipeline)
        return evaluate_and_report(arguments, output, pipeline, command)


def _compare_models(arguments: argparse.Namespace, models: list[str], output: Output, command: str) -> int:
    """Evaluate two models on the same questions, and report the second compared with the first."""
    from app.commands.engine_options import block_executor, check_run
    from app.commands.fail_if import checked_gate
    from app.commands.options import open_pipeline
    from app.commands.report_output import ReportFiles, report_run
    from app.runs.distributed import run_workers
    from app.runs.evaluate import with_arms

    if len(models) > 2 or models[0] == models[1]:
        raise UsageError(f"--model {', '.join(models)}: give one model, or two different ones to compare")
    if arguments.dry_run:
        raise UsageError("--dry-run supports one model: give one --model")
    gate = checked_gate(arguments.fail_if)
    runs = []
    plan = plan_of(arguments)
    for model in models:
        check_run(arguments, plan, model)
    with block_executor(arguments, output) as executor:
        for model in models:
            output.info(f"model {model}:")
            own = argparse.Namespace(**(vars(arguments) | {"model": model}))
            own.name = f"{arguments.name}, {model}" if arguments.name else ""
            with open_pipeline(own) as pipeline, run_workers(executor, pipeline) as workers:
                runs.append(_draw(own, output, pipeline, with_arms(pipeline, plan), command, workers)[0])
    own.model = None  # All samples are stored, so the report needs no model.
    with open_pipeline(own) as pipeline:
        first, second = runs
        files = ReportFiles(arguments.report, answers=arguments.answers_csv)
        shown = report_run(pipeline, second, files, output, gate=gate, against=first)
    for model, run_id in zip(models, runs, strict=True):
        output.info(f"{model}: plumbline report {run_id}")
    return EXIT_THRESHOLD if shown.failed else EXIT_PARTIAL if shown.unscored else EXIT_OK


def evaluate_and_report(arguments: argparse.Namespace, output: Output, pipeline: Any, command: str) -> int:
    """Evaluate one model, print and write the report, and return the exit code.

    command: the command line, which the run records.
    """
    from app.commands.engine_options import block_executor, check_run
    from app.commands.fail_if import checked_gate
    from app.commands.report_output import ReportFiles, report_run
    from app.runs.analysis import AnalysisOptions
    from app.runs.distributed import run_workers
    from app.runs.evaluate import arms_of, with_arms

    plan = plan_of(arguments)
    check_run(arguments, plan, pipeline.settings.model)
    plan = with_arms(pipeline, plan)
    gate = checked_gate(getattr(arguments, "fail_if", None), arms_of(plan))
    analysis = AnalysisOptions(arguments.signals, arguments.faithfulness, arguments.gold_evidence, arguments.citations)
    with block_executor(arguments, output) as executor, run_workers(executor, pipeline) as workers:
        run_id, judge = _draw(arguments, output, pipeline, plan, command, workers)
        files = ReportFiles(arguments.report, answers=getattr(arguments, "answers_csv", None))
        shown = report_run(pipeline, run_id, files, output, judge.entailment, gate, analysis=analysis)
    if shown.failed:
        return EXIT_THRESHOLD
    return EXIT_PARTIAL if shown.unscored else EXIT_OK


def _draw(
    arguments: argparse.Namespace,
    output: Output,
    pipeline: Any,
    plan: EvaluationPlan,
    command: str,
    workers: RunWorkers | None,
) -> tuple[str, Judge]:
    """Generate and judge the missing samples, and return the run's ID and its judge.

    workers: processes that generate and judge; None for this process.
    """
    from app.runs.evaluate import evaluate, judge_of
    from app.runs.forced_drift import check_forced, run_forced
    from evaluation.runs.experiment import Progress

    load = workers.load_scorer if workers else None
    judge = judge_of(pipeline, plan, load)  # Checks the collections before check_forced loads the generator.
    if arguments.forced_drift:
        check_forced(pipeline, plan)
    with output.progress() as bar:

        def show(progress: Progress) -> None:
            bar.update("samples", progress.done, progress.total)

        result = evaluate(
            pipeline,
            plan,
            name=arguments.name,
            command=command,
            judge=judge,
            progress=show,
            retry_failed=arguments.retry_failed,
            worker_generation=workers.generation(pipeline.generator) if workers else None,
        )
        if arguments.forced_drift:
            run_forced(
                pipeline,
                plan,
                result.run_id,
                progress=lambda p: bar.update("inserted claims", p.done, p.total),
                marking=lambda done, total: bar.update("restatements", done, total),
                retry_failed=arguments.retry_failed,
            )
    if result.resumed:
        output.info(f"{result.resumed} of {result.total} samples were already committed")
    return result.run_id, judge
