"""Print a run's figures and write its HTML report; compare two runs; export a run. Without RUN, list the runs.

--against RUN2 compares the two on common questions: paired differences, RUN2 minus RUN, with intervals. --format prints
JSON, CSV or Markdown instead of tables. --plots writes the charts as SVG and PNG files.

--export KIND FILE writes the run as Ragas records, an Inspect-like JSON log, RAGTruth's layout (FILE is then a folder),
a TREC run of the passages in the prompts, Parquet, or OpenTelemetry spans (otlp) or log records (otlp-logs). For otlp
and otlp-logs, FILE may be the URL of a server. --export can be repeated. docs/score.md lists the fields of each format.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, UsageError

EXPORTS = ("ragas", "inspect", "ragtruth", "trec", "parquet", "otlp", "otlp-logs")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.fail_if import add_fail_if
    from app.commands.options import add_analysis, add_answers_csv, add_report

    parser.add_argument("run_id", nargs="?", metavar="RUN", help="name or ID of a run (default: list the runs)")
    parser.add_argument("--against", metavar="RUN2", help="compare RUN with this run on their common questions")
    add_report(parser, "default in home/reports")
    add_answers_csv(parser)
    parser.add_argument("--format", choices=("table", "json", "csv", "markdown"), default="table", help="output format")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the charts as SVG and PNG files")
    parser.add_argument(
        "--export",
        nargs=2,
        action="append",
        default=[],
        metavar=("KIND", "FILE"),
        help=f"write the run to FILE; KIND: {' | '.join(EXPORTS)}",
    )
    parser.add_argument("--arms", metavar="ARMS", help="arms to export, joined by commas (default: all)")
    add_analysis(parser)
    add_fail_if(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """List the runs, or report and export one."""
    from app.commands.fail_if import checked_gate
    from app.commands.options import open_pipeline
    from app.commands.report_output import ReportFiles, report_run
    from app.commands.runs import show_runs
    from app.runs.analysis import AnalysisOptions
    from app.runs.evaluate import full_run_id
    from evaluation.runs.run_store import RunStore

    _check(arguments)
    gate = checked_gate(arguments.fail_if)
    with open_pipeline(arguments) as pipeline:
        if arguments.run_id is None:
            show_runs(RunStore(pipeline.store).list_runs(), output)
            return EXIT_OK
        run_id = full_run_id(pipeline, arguments.run_id)
        for kind, name in arguments.export:
            _export(pipeline, run_id, kind, name, arguments.arms, output)
        if arguments.export and not (arguments.plots or arguments.against or arguments.report or gate):
            return EXIT_OK
        against = full_run_id(pipeline, arguments.against) if arguments.against else None
        marker = None if against else _marker(pipeline, run_id, output)
        analysis = AnalysisOptions(
            arguments.signals, arguments.faithfulness, arguments.gold_evidence, arguments.citations
        )
        files = ReportFiles(arguments.report, arguments.plots, arguments.answers_csv)
        shown = report_run(pipeline, run_id, files, output, marker, gate, against, arguments.format, analysis)
    if shown.failed:
        return EXIT_THRESHOLD
    return EXIT_PARTIAL if gate is not None and shown.unscored else EXIT_OK


def _check(arguments: argparse.Namespace) -> None:
    from app.commands.options import check_writable

    unknown = [kind for kind, _ in arguments.export if kind not in EXPORTS]
    if unknown:
        raise UsageError(f"--export {unknown[0]}: choose from {', '.join(EXPORTS)}")
    check_writable(arguments.answers_csv, "--answers-csv")
    needs_run = (
        "answers_csv",
        "against",
        "plots",
        "export",
        "fail_if",
        "report",
        "arms",
        "signals",
        "faithfulness",
        "gold_evidence",
        "citations",
    )
    named = next((name for name in needs_run if getattr(arguments, name)), None)
    if arguments.run_id is None and named:
        raise UsageError(f"--{named.replace('_', '-')} needs a run: plumbline report RUN (plumbline report lists them)")
    if arguments.arms and not arguments.export:
        raise UsageError("--arms selects arms to export: give --export, too")


def _marker(pipeline: Any, run_id: str, output: Output) -> Any:
    """Return the scorer that marks weak words in a run's answers.

    None if the run has no entailment judge, or if its judge is not available.
    """
    from app.errors import USER_ERRORS
    from app.judging.run_judge import reopen_judge
    from evaluation.runs.run_store import RunStore

    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    try:
        judge = reopen_judge(pipeline, info, runs.load_questions(info.id))
    except USER_ERRORS as error:
        output.info(f"weak words are not marked in the answers: {error}")
        return None
    return judge.entailment if judge else None


def _export(pipeline: Any, run_id: str, kind: str, target: str, arms: str | None, output: Output) -> None:
    from app.exporting.responses_export import RESPONSE_EXPORTS, export_responses, without_password
    from app.runs.comparison import export_run
    from evaluation.exports.inspect_log import export_inspect
    from evaluation.exports.ragas import export_ragas
    from evaluation.exports.ragtruth_spans import export_ragtruth
    from evaluation.exports.records import select_arms
    from evaluation.exports.responses import run_responses
    from evaluation.exports.trec import export_trec

    names = tuple(arm.strip() for arm in arms.split(",")) if arms else ()
    export = select_arms(export_run(pipeline, run_id), names)
    for response_kind in RESPONSE_EXPORTS:
        if kind == response_kind:
            count = export_responses(response_kind, target, run_responses(export))
            output.info(f"{kind}: {count} responses in {without_password(target)}")
            return
    path = Path(target)
    write = {"ragas": export_ragas, "inspect": export_inspect, "ragtruth": export_ragtruth, "trec": export_trec}[kind]
    written = write(export, path)
    output.info(f"{kind}: {written.rows} {'lines' if kind == 'trec' else 'responses'} in {path}")
    if written.left_out:
        output.info(f"{written.left_out} left out: {written.reason}")
